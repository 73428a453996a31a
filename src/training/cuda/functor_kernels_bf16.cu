#include "training/cuda/functor_set.h"
#include "training/cuda/functor_set_of.h"

namespace bench::training {

KernelSet functor_set_bf16(DeviceContext& context) { return functor_set_of<Bf16>(context); }

}  // namespace bench::training
