#include "probes/backends/cuda/cublas_descriptors.h"

namespace bench {

CublasDescriptors::CublasDescriptors(const CublasProduct& product, const CublasTypes& types,
                                     bool fast_accumulation) {
  check(cublasLtMatmulDescCreate(operation_.out(), types.compute, types.scale),
        "describe the product");
  const cublasOperation_t transpose = product.transpose_first ? CUBLAS_OP_T : CUBLAS_OP_N;
  check(cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_TRANSA, &transpose,
                                       sizeof transpose),
        "say which factor is transposed");
  // Only of fp8: others keep their sums in full.
  const bool eight_bits = types.a == CUDA_R_8F_E4M3;
  const std::int8_t fast = fast_accumulation && eight_bits ? 1 : 0;
  check(cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                       sizeof fast),
        "say how sums are kept");
  describe(first_, product.first);
  describe(second_, product.second);
  describe(result_, product.result);
}

void CublasDescriptors::describe(Layout& layout, const CublasMatrix& matrix) {
  check(
      cublasLtMatrixLayoutCreate(layout.out(), matrix.type, static_cast<std::uint64_t>(matrix.rows),
                                 static_cast<std::uint64_t>(matrix.columns), matrix.leading),
      "describe a matrix");
}

}  // namespace bench
