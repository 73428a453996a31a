#include "training/cuda/lt_gemm.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "devices/cuda/candidates.h"
#include "devices/cuda/cublas_algorithms.h"

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

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;  // Hopper's kernels need 32 MiB
constexpr int kCandidates = 8;

}  // namespace

LtPlan::LtPlan(const LtLayout& layout) : layout_(layout) {
  check(cublasLtMatmulDescCreate(operation_.out(), CUBLAS_COMPUTE_32F, CUDA_R_32F),
        "create matmul descriptor");
  const auto transposed = [](bool is) { return is ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set(CUBLASLT_MATMUL_DESC_TRANSA, transposed(layout.first.transpose), "set transpose");
  set(CUBLASLT_MATMUL_DESC_TRANSB, transposed(layout.second.transpose), "set transpose");
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(layout), "set epilogue");
  if (layout.gelu != GeluStep::none)  // in the layout of the result
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

LtGemmPlans::LtGemmPlans(std::shared_ptr<DeviceContext> context)
    : context_(std::move(context)), workspace_(kWorkspaceBytes) {
  check(cublasLtCreate(handle_.out()), "cublasLtCreate");
}

LtPlan& LtGemmPlans::plan_of(const LtLayout& layout) {
  const auto found = std::find_if(plans_.begin(), plans_.end(),
                                  [&](const auto& plan) { return plan->layout() == layout; });
  if (found != plans_.end()) return **found;
  auto plan = std::make_unique<LtPlan>(layout);
  plan->propose(handle_.get(), kWorkspaceBytes, kCandidates);
  return *plans_.emplace_back(std::move(plan));
}

bool LtGemmPlans::fuses(const GemmOptions& product, View a, View b, View c) {
  constexpr std::int64_t kMultiple = 8;  // of the leading dimension of GELU's input
  if (product.gelu == GeluStep::none) return true;
  if (size_of(c.dtype) != 2 || c.columns % kMultiple != 0) return false;
  const LtLayout layout = lt_layout(product, a, b, c);
  if (std::find(refused_.begin(), refused_.end(), layout) != refused_.end()) return false;
  try {
    plan_of(layout);
    return true;
  } catch (const Error&) {
    refused_.push_back(layout);
    return false;
  }
}

void LtGemmPlans::multiply(const GemmOptions& product, View a, View b, View c) {
  LtPlan& plan = plan_of(lt_layout(product, a, b, c));
  LtCall call{handle_.get(), b.data, a.data, product.addend.data, product.bias.data, c.data};
  call.gelu_input = product.gelu_input.data;
  call.workspace = workspace_.as<>();
  call.workspace_bytes = kWorkspaceBytes;
  call.stream = context_->stream();
  call.as_proposed = deterministic_;
  if (!deterministic_ && !plan.tuned && !context_->recording())
    tune(plan, call, c.elements() * static_cast<std::int64_t>(size_of(c.dtype)));
  plan.run(call);
}

/// Trials write to scratch memory, because the result may be accumulated in place.
void LtGemmPlans::tune(LtPlan& plan, LtCall call, std::int64_t result_bytes) {
  constexpr int kRounds = 4;
  plan.tuned = true;
  if (plan.candidates() == 1) return;
  if (plan.layout().in_place) call.result = context_->scratch(result_bytes);
  plan.choose(fastest(plan.candidates(), kRounds, [&](std::size_t which) {
    plan.choose(which);
    plan.run(call);
    context_->synchronise();
    return context_->timer().time([&] { plan.run(call); }, 1).value;
  }));
}

}  // namespace bench::training
