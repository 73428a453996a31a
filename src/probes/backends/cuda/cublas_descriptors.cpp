#include "probes/backends/cuda/cublas_descriptors.h"

namespace bench {

CublasDescriptors::CublasDescriptors(const CublasProduct& product, const CublasTypes& types,
                                     bool fast_accumulation)
    : block_scaled_(types.block > 0) {
  check(cublasLtMatmulDescCreate(operation_.out(), types.compute, types.scale),
        "create the GEMM descriptor");
  const cublasOperation_t transpose = product.transpose_first ? CUBLAS_OP_T : CUBLAS_OP_N;
  set(CUBLASLT_MATMUL_DESC_TRANSA, transpose, "set the transposition");
  // Only of fp8: others keep their sums in full.
  const bool eight_bits = types.a == CUDA_R_8F_E4M3 && !block_scaled_;
  const std::int8_t fast = fast_accumulation && eight_bits ? 1 : 0;
  set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast, "set fast accumulation");
#ifdef BENCH_CUBLAS_BLOCK_SCALES
  if (block_scaled_) {
    set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, types.scale_mode, "set the scale mode");
    set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, types.scale_mode, "set the scale mode");
  }
#endif
  describe(first_, product.first);
  describe(second_, product.second);
  describe(result_, product.result);
}

void CublasDescriptors::set_scales(const void* first, const void* second) {
  if (!block_scaled_) throw Error(ErrorKind::internal, "scales given for a GEMM without scales");
  set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, first, "set the scale pointer");
  set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, second, "set the scale pointer");
}

void CublasDescriptors::describe(Layout& layout, const CublasMatrix& matrix) {
  check(
      cublasLtMatrixLayoutCreate(layout.out(), matrix.type, static_cast<std::uint64_t>(matrix.rows),
                                 static_cast<std::uint64_t>(matrix.columns), matrix.leading),
      "create a matrix layout");
}

}  // namespace bench
