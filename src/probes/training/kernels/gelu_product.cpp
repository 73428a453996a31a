#include "probes/training/kernels/gelu_product.h"

#include <utility>

namespace bench::training {

void multiply_gelu(const KernelSet& kernels, GemmOptions product, View a, View b, View c) {
  if (kernels.gemm->fuses(product, a, b, c)) return kernels.gemm->multiply(product, a, b, c);
  const GeluStep step = std::exchange(product.gelu, GeluStep::none);
  const View input = std::exchange(product.gelu_input, {});
  kernels.gemm->multiply(product, a, b, step == GeluStep::forward ? input : c);
  if (step == GeluStep::forward) kernels.activation->gelu_forward(input, c);
  if (step == GeluStep::backward) kernels.activation->gelu_backward(input, c, c, false);
}

}  // namespace bench::training
