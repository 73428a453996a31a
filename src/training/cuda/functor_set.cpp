#include "training/cuda/functor_set.h"

#include <string>

#include "core/error.h"

namespace bench::training {

KernelSet functor_set(Dtype dtype, DeviceContext& context) {
  if (dtype == Dtype::f32) return functor_set_f32(context);
  if (dtype == Dtype::bf16) return functor_set_bf16(context);
  if (dtype == Dtype::f16) return functor_set_f16(context);
  throw Error(ErrorKind::input,
              "GPU training does not support " + std::string(to_string(dtype)) + " tensors",
              "use f32, bf16 or f16");
}

}  // namespace bench::training
