#include "training/cuda/functor_set.h"
#include "training/cuda/functor_set_of.h"

namespace bench::training {

KernelSet functor_set_f32(DeviceContext& context) { return functor_set_of<float>(context); }

}  // namespace bench::training
