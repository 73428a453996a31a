#include "probes/training/backends/cuda/lt_plan.h"

#include <string>

#include "core/error.h"
#include "probes/backends/cuda/cublas_algorithms.h"

namespace bench::training {
namespace {

cudaDataType_t type_of(Dtype dtype) {
  if (dtype == Dtype::f16) return CUDA_R_16F;
  return dtype == Dtype::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

std::string sizes_text(const LtLayout& layout) {
  const std::int64_t depth = layout.second.transpose ? layout.second.columns : layout.second.rows;
  return std::to_string(layout.result.columns) + " x " + std::to_string(layout.result.rows) +
         " x " + std::to_string(depth) + " in " + std::string(to_string(layout.dtype));
}

cublasLtEpilogue_t epilogue_of(const LtLayout& layout) {
  switch (layout.gelu) {
    case GeluStep::forward:
      return layout.bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
    case GeluStep::backward:
      return CUBLASLT_EPILOGUE_DGELU;
    case GeluStep::none:
      break;
  }
  return layout.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

}  // namespace

LtPlan::LtPlan(const LtLayout& layout) : layout_(layout) {
  check(cublasLtMatmulDescCreate(operation_.out(), CUBLAS_COMPUTE_32F, CUDA_R_32F),
        "create matmul descriptor");
  const auto transposed = [](bool is) { return is ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set(CUBLASLT_MATMUL_DESC_TRANSA, transposed(layout.first.transpose), "set transpose");
  set(CUBLASLT_MATMUL_DESC_TRANSB, transposed(layout.second.transpose), "set transpose");
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(layout), "set epilogue");
  if (layout.gelu != GeluStep::none)  // as the result lies
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, layout.result.rows, "set GELU input layout");
  const auto describe = [&](Layout& to, const LtMatrix& matrix) {
    check(cublasLtMatrixLayoutCreate(to.out(), type_of(layout.dtype),
                                     static_cast<std::uint64_t>(matrix.rows),
                                     static_cast<std::uint64_t>(matrix.columns), matrix.rows),
          "create matrix layout");
  };
  describe(first_, layout.first);
  describe(second_, layout.second);
  describe(result_, layout.result);
}

void LtPlan::propose(cublasLtHandle_t handle, std::size_t workspace_bytes, int wanted) {
  algorithms_ =
      cublas_algorithms(handle, {operation_.get(), first_.get(), second_.get(), result_.get()},
                        workspace_bytes, wanted);
  if (algorithms_.empty())
    throw Error(ErrorKind::environment,
                "cuBLASLt has no algorithm for a GEMM of " + sizes_text(layout_),
                "use sizes that are multiples of 8");
}

void LtPlan::run(const LtCall& call) {
  constexpr float kOne = 1.0f;
  const float beta = layout_.addend ? 1.0f : 0.0f;
  if (layout_.bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call.bias, "set bias pointer");
  if (layout_.gelu != GeluStep::none)
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, call.gelu_input, "set GELU input pointer");
  const void* addend = layout_.addend ? call.addend : call.result;
  const cublasStatus_t status =
      cublasLtMatmul(call.handle, operation_.get(), &kOne, call.first, first_.get(), call.second,
                     second_.get(), &beta, addend, result_.get(), call.result, result_.get(),
                     &algorithms_.at(call.as_proposed ? 0 : chosen_), call.workspace,
                     call.workspace_bytes, call.stream);
  // Called for every GEMM of a step: build the text only on failure.
  if (status != CUBLAS_STATUS_SUCCESS) check(status, "cublasLtMatmul of " + sizes_text(layout_));
}

}  // namespace bench::training
