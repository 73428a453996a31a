#include "training/cuda/functor_set.h"
#include "training/cuda/functor_set_of.h"

namespace bench::training {

KernelSet functor_set_f16(DeviceContext& context) { return functor_set_of<F16>(context); }

}  // namespace bench::training
