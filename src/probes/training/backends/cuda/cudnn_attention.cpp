#include "probes/training/backends/cuda/cudnn_attention.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "probes/training/backends/cuda/cudnn/execution_plan.h"

namespace bench::training {
namespace {

using cudnn::AttentionProblem;

/// A plan for each pass; the backward one only if requested.
struct AttentionPlans {
  AttentionProblem problem;
  std::unique_ptr<cudnn::ExecutionPlan> forward = {}, backward = {};
};

class CudnnAttention final : public cudnn::LibraryAttention {
 public:
  /// Throws Error(environment) where cuDNN does not start on this GPU.
  CudnnAttention(std::unique_ptr<cudnn::Library> library, std::shared_ptr<DeviceContext> context)
      : library_(std::move(library)), context_(std::move(context)) {
    library_->check(library_->create(&handle_), "start");
    library_->check(library_->set_stream(handle_, context_->stream()), "set stream");
  }
  ~CudnnAttention() override {
    plans_.clear();
    library_->destroy(handle_);
  }

  std::string name() const override { return "cudnn " + library_->version(); }

  void forward(const AttentionShape& shape, View packed, View output, View log_sum) override {
    AttentionPlans& plans = plans_of(shape, packed);
    if (!plans.forward)
      plans.forward = std::make_unique<cudnn::ExecutionPlan>(
          *library_, cudnn::attention_forward_graph(plans.problem));
    const auto [query, key, value] = heads_of(shape, packed);
    plans.forward->execute(handle_,
                           {{cudnn::kQuery, query},
                            {cudnn::kKey, key},
                            {cudnn::kValue, value},
                            {cudnn::kOutput, output.data},
                            {cudnn::kLogSum, log_sum.data}},
                           context_->scratch(plans.forward->workspace_bytes()));
  }

  void backward(const AttentionShape& shape, const AttentionBackward& what) override {
    if (cudnn::ignores_strides_of_sums(library_->version_number(), context_->capability()))
      throw Error(ErrorKind::environment,
                  name() + " uses another layout of softmax statistics on this GPU");
    AttentionPlans& plans = plans_of(shape, what.packed);
    if (!plans.backward)
      plans.backward = std::make_unique<cudnn::ExecutionPlan>(
          *library_, cudnn::attention_backward_graph(plans.problem));
    const auto [query, key, value] = heads_of(shape, what.packed);
    const auto [query_gradient, key_gradient, value_gradient] =
        heads_of(shape, what.packed_gradient);
    const std::int64_t sums = rounded_up(what.output.elements() * std::int64_t{sizeof(float)});
    auto* scratch =
        static_cast<std::byte*>(context_->scratch(sums + plans.backward->workspace_bytes()));
    plans.backward->execute(handle_,
                            {{cudnn::kQuery, query},
                             {cudnn::kKey, key},
                             {cudnn::kValue, value},
                             {cudnn::kOutput, what.output.data},
                             {cudnn::kLogSum, what.log_sum.data},
                             {cudnn::kOutputGradient, what.output_gradient.data},
                             {cudnn::kQueryGradient, query_gradient},
                             {cudnn::kKeyGradient, key_gradient},
                             {cudnn::kValueGradient, value_gradient},
                             {cudnn::kRowSums, what.workspace.data},
                             {cudnn::kQuerySums, scratch}},
                            scratch + sums);
  }

 private:
  struct Heads {
    void *query, *key, *value;
  };
  static Heads heads_of(const AttentionShape& shape, View packed) {
    const std::int64_t head = shape.head_dim * static_cast<std::int64_t>(size_of(packed.dtype));
    auto* row = packed.as<std::byte>();
    return {row, row + shape.heads * head, row + (shape.heads + shape.kv_heads) * head};
  }
  static std::int64_t rounded_up(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  AttentionPlans& plans_of(const AttentionShape& shape, View packed) {
    const AttentionProblem problem{shape, packed.rows / shape.sequence, packed.dtype};
    const auto found = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const auto& plans) { return plans.problem == problem; });
    return found != plans_.end() ? *found : plans_.emplace_back(AttentionPlans{problem});
  }

  std::unique_ptr<cudnn::Library> library_;
  std::shared_ptr<DeviceContext> context_;
  cudnn::Handle handle_ = nullptr;
  std::vector<AttentionPlans> plans_ = {};
};

/// By events alone, without StreamTimer's gate: a library that waits for the stream would
/// deadlock behind it.
double least_seconds(DeviceContext& context, const std::function<void()>& call) {
  constexpr int kTimings = 3;
  const CudaEvent begin, end;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTimings; ++i) {
    check(cudaEventRecord(begin.get(), context.stream()), "record start event");
    call();
    check(cudaEventRecord(end.get(), context.stream()), "record end event");
    context.synchronise();
    least = std::min(least, between(begin, end).value);
  }
  return least;
}

}  // namespace

std::shared_ptr<cudnn::AttentionChoices> cudnn_attention(std::shared_ptr<DeviceContext> context,
                                                         std::shared_ptr<Memory> memory) {
  const auto open = [context] {
    auto library = std::make_unique<cudnn::Library>();
    if (!library->problem().empty()) throw Error(ErrorKind::environment, library->problem());
    return std::make_unique<CudnnAttention>(std::move(library), context);
  };
  cudnn::ChoiceDevice device{
      std::move(memory), [context] { return context->recording(); },
      [context](const std::function<void()>& call) { return least_seconds(*context, call); }};
  return std::make_shared<cudnn::AttentionChoices>(open, std::move(device));
}

}  // namespace bench::training
