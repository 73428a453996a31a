#include "probes/training/backends/cuda/functor_set.h"
#include "probes/training/backends/cuda/functor_set_of.h"

namespace bench::training {

KernelSet functor_set_f16(DeviceContext& context) { return functor_set_of<F16>(context); }

}  // namespace bench::training
