#include "probes/backends/cuda/cublas_types.h"

namespace bench {
namespace {

constexpr int kAda = 89;     // fp8 from here on
constexpr int kAmpere = 80;  // tf32 and bf16

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
    case Dtype::int8:
      return bytes();
    case Dtype::int32:
    case Dtype::int64:
      return {};
  }
  return {};
}

std::string cublas_obstacle(const GemmRequest& request, int compute_capability) {
  const std::string dtype(to_string(request.dtype));
  const auto types = cublas_types(request.dtype);
  if (!types) return "cuBLASLt has no " + dtype + " product";
  const bool eight_bit_float = request.dtype == Dtype::fp8_e4m3 || request.dtype == Dtype::fp8_e5m2;
  const bool from_ampere = request.dtype == Dtype::tf32 || request.dtype == Dtype::bf16;
  const int least = eight_bit_float ? kAda : from_ampere ? kAmpere : 0;
  if (compute_capability < least)
    return dtype + " needs compute capability " + std::to_string(least / 10) + "." +
           std::to_string(least % 10) + ", this GPU has " +
           std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
  const GemmShape& s = request.shape;
  if (s.m % types->grain != 0 || s.n % types->grain != 0 || s.k % types->grain != 0)
    return dtype + " needs m, n and k to be multiples of " + std::to_string(types->grain);
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

}  // namespace bench
