#include "probes/training/backends/cuda/lt_gemm.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "probes/backends/cuda/cublas_algorithms.h"

namespace bench::training {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;  // Hopper's kernels want 32 MiB
constexpr int kCandidates = 8;

}  // namespace

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

/// While algorithms are tried they write elsewhere, because the result may be accumulated in place.
void LtGemmPlans::tune(LtPlan& plan, LtCall call, std::int64_t result_bytes) {
  constexpr int kTimings = 3;
  plan.tuned = true;
  if (plan.candidates() == 1) return;
  if (plan.layout().in_place) call.result = context_->scratch(result_bytes);
  plan.choose(fastest(plan.candidates(), [&](std::size_t which) {
    plan.choose(which);
    plan.run(call);
    context_->synchronise();
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kTimings; ++i)
      least = std::min(least, context_->timer().time([&] { plan.run(call); }, 1).value);
    return least;
  }));
}

}  // namespace bench::training
