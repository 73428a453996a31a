#include "probes/training/backends/cuda/functor_set.h"

#include <string>

#include "core/error.h"

namespace bench::training {

KernelSet functor_set(Dtype dtype, DeviceContext& context) {
  if (dtype == Dtype::f32) return functor_set_f32(context);
  if (dtype == Dtype::bf16) return functor_set_bf16(context);
  if (dtype == Dtype::f16) return functor_set_f16(context);
  throw Error(ErrorKind::input,
              "training on a GPU has no " + std::string(to_string(dtype)) + " tensors",
              "it has f32, bf16 and f16");
}

}  // namespace bench::training
