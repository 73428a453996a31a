#include "devices/cuda/cublas_descriptors.h"

#include "core/block_scaled.h"

namespace bench {
namespace {

constexpr int kBlackwell = 100;      // block-scaled products from here on
constexpr int kAda = 89;             // fp8
constexpr int kAmpere = 80;          // tf32 and bf16
constexpr int kBlockScales = 12080;  // the toolkit that has them

CublasTypes all_of(cudaDataType_t type, cublasComputeType_t compute, Dtype output) {
  CublasTypes types;
  types.a = types.b = types.c = type;
  types.compute = compute;
  types.output = output;
  return types;
}

CublasTypes fp8(cudaDataType_t b) {
  CublasTypes types;
  types.a = CUDA_R_8F_E4M3;
  types.b = b;
  types.c = CUDA_R_16BF;
  types.output = Dtype::bf16;
  types.transposed_b = true;
  types.grain = 16;
  return types;
}

CublasTypes doubles() {
  CublasTypes types = all_of(CUDA_R_64F, CUBLAS_COMPUTE_64F, Dtype::f64);
  types.scale = CUDA_R_64F;
  return types;
}

CublasTypes bytes() {
  CublasTypes types = all_of(CUDA_R_8I, CUBLAS_COMPUTE_32I, Dtype::int32);
  types.c = types.scale = CUDA_R_32I;
  types.transposed_b = true;
  types.grain = 16;
  return types;
}

#ifdef BENCH_CUBLAS_BLOCK_SCALES
std::optional<CublasTypes> block_scaled(Dtype dtype) {
  const bool small = dtype == Dtype::nvfp4;
  CublasTypes types = fp8(CUDA_R_8F_E4M3);
  if (small) types.a = types.b = CUDA_R_4F_E2M1;
  types.block = static_cast<int>(block_of(dtype));
  types.scale_mode =
      small ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 : CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
  types.grain = 32;  // whole blocks, and lines of a multiple of 16 bytes
  return types;
}
#else
std::optional<CublasTypes> block_scaled(Dtype) { return {}; }
#endif

std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

std::string toolkit_text(int toolkit) {
  return std::to_string(toolkit / 1000) + "." + std::to_string(toolkit % 1000 / 10);
}

int least_capability(Dtype dtype) {
  if (block_of(dtype) > 0) return kBlackwell;
  if (dtype == Dtype::fp8_e4m3 || dtype == Dtype::fp8_e5m2) return kAda;
  return dtype == Dtype::tf32 || dtype == Dtype::bf16 ? kAmpere : 0;
}

}  // namespace

std::optional<CublasTypes> cublas_types(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return doubles();
    case Dtype::f32:
      return all_of(CUDA_R_32F, CUBLAS_COMPUTE_32F, Dtype::f32);
    case Dtype::tf32:
      return all_of(CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, Dtype::f32);
    case Dtype::bf16:
      return all_of(CUDA_R_16BF, CUBLAS_COMPUTE_32F, Dtype::bf16);
    case Dtype::f16:
      return all_of(CUDA_R_16F, CUBLAS_COMPUTE_32F, Dtype::f16);
    case Dtype::fp8_e4m3:
      return fp8(CUDA_R_8F_E4M3);
    case Dtype::fp8_e5m2:
      return fp8(CUDA_R_8F_E5M2);
    case Dtype::mxfp8:
    case Dtype::nvfp4:
      return block_scaled(dtype);
    case Dtype::int8:
      return bytes();
    case Dtype::int32:
    case Dtype::int64:
      return {};
  }
  return {};
}

std::string cublas_obstacle(const GemmRequest& request, int compute_capability, int toolkit) {
  const std::string dtype(to_string(request.dtype));
  if (block_of(request.dtype) > 0 && toolkit < kBlockScales)
    return dtype + " needs CUDA 12.8; this build has " + toolkit_text(toolkit);
  if (const int least = least_capability(request.dtype); compute_capability < least)
    return dtype + " needs compute capability " + capability_text(least) + "; this GPU has " +
           capability_text(compute_capability);
  const auto types = cublas_types(request.dtype);
  if (!types) return "cuBLASLt has no " + dtype + " product";
  const GemmShape& s = request.shape;
  if (s.m % types->grain != 0 || s.n % types->grain != 0 || s.k % types->grain != 0)
    return dtype + " needs m, n and k that are multiples of " + std::to_string(types->grain);
  return "";
}

CublasProduct cublas_product(const GemmShape& shape, const CublasTypes& types, bool transposed_b) {
  CublasProduct product;
  product.transpose_first = transposed_b;
  if (transposed_b)
    product.first = {types.b, shape.k, shape.n, shape.k};
  else
    product.first = {types.b, shape.n, shape.k, shape.n};
  product.second = {types.a, shape.k, shape.m, shape.k};
  product.result = {types.c, shape.n, shape.m, shape.n};
  return product;
}

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
