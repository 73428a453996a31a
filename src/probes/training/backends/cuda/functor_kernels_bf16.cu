#include "probes/training/backends/cuda/functor_set.h"
#include "probes/training/backends/cuda/functor_set_of.h"

namespace bench::training {

KernelSet functor_set_bf16(DeviceContext& context) { return functor_set_of<Bf16>(context); }

}  // namespace bench::training
