#include "training/trainer/memory_need.h"

#include <algorithm>

#include "training/engine/plan.h"
#include "training/parallel/exchange_method.h"
#include "training/workloads/rollouts.h"

namespace bench::training {

namespace {

/// Of the buffers of exchanges within passes.
std::int64_t bytes_within_passes(const Graph& graph) {
  ExchangeBuffers tensor, copies;
  for (const Node& node : graph.nodes()) {
    const OperatorExchange exchange = node.op->exchange();
    tensor.cover(exchange.tensor);
    copies.cover(exchange.copies);
  }
  return (tensor.received + tensor.padded + copies.received + copies.padded) *
         static_cast<std::int64_t>(size_of(graph.compute()));
}

/// Ranks with the same parameters.
int replicas_of(const ModelPart& part, const BatchSplit& split) {
  return part.shards > 1 ? 1 : split.ranks * part.context.ranks / part.expert_ranks;
}

/// Elements of the row of gradients whose optimizer state the first of these ranks has, which has
/// most.
std::int64_t owned_elements(const Plan& plan, int ranks, const DataParallelOptions& exchange) {
  const View row = gradient_row(plan);
  const bool shards = exchange.shard_optimizer && ranks > 1;
  std::int64_t elements = 0;
  for (const BlockRange& range :
       owned_blocks(make_buckets(plan, exchange.bucket_bytes, ranks), 0, ranks, shards))
    elements += blocks_in(row, range).elements();
  return elements;
}

}  // namespace

std::int64_t MemoryNeed::total() const {
  std::int64_t sum = 0;
  for (const MemoryUse& use : uses) sum += use.bytes;
  return sum;
}

const MemoryUse& MemoryNeed::largest() const {
  return *std::ranges::max_element(uses, {}, &MemoryUse::bytes);
}

MemoryNeed memory_need(const Workload& workload, const BatchSplit& split, Dtype dtype,
                       bool recompute, const RankSharing& sharing) {
  const auto& [part, schedule, exchange] = sharing;
  const Model model = workload.model_part(part, split.micro_batch, dtype, recompute);
  const Plan training = make_plan(*model.graph, true, weight_gradients(schedule));
  const Plan evaluation = make_plan(*model.graph, false);
  const int kept = part.stages == 1
                       ? 1
                       : micro_batches_in_flight(stage_passes(schedule, part, split.micro_batches));
  MemoryNeed need;
  const auto peaks = training.peak_bytes();
  for (std::size_t i = 0; i < kMemoryLabels; ++i) {
    const auto label = static_cast<Label>(i);
    // What a stage keeps of several micro-batches shares its gradients.
    const bool shared = label == Label::parameters || label == Label::constants ||
                        (kept > 1 && label == Label::gradients);
    need.uses.push_back(
        {std::string(to_string(label)), peaks[i] * (shared ? 1 : split.lanes * kept)});
  }
  const int replicas = replicas_of(part, split);
  const std::int64_t owned = owned_elements(training, replicas, exchange);
  const std::int64_t kept_elements =
      exchange.offload.empty() ? owned : StateWindows::of(owned).buffered();
  need.uses.push_back({"optimizer", workload.optimizer()->state_bytes(kept_elements, dtype)});
  const std::int64_t elements = gradient_row(training).elements();
  if (const std::int64_t bytes = kept_bytes(exchange.method, elements, dtype); bytes > 0)
    need.uses.push_back({std::string(kept_label(exchange.method)), bytes});
  need.uses.push_back({"evaluation", split.lanes * (evaluation.bytes(Arena::inputs) +
                                                    evaluation.bytes(Arena::transient))});
  need.uses.push_back(
      {"exchange", bytes_within_passes(*model.graph) +
                       exchange_bytes(training, part, replicas, exchange, split.lanes)});
  if (const Rollouts* rollouts = workload.rollouts())
    need.uses.push_back(
        {"rollouts", rollouts->memory_bytes(evaluation, split.lanes, split.micro_batch)});
  return need;
}

std::int64_t largest_micro_batch(const Workload& workload, int lanes, Dtype dtype, bool recompute,
                                 double bytes, const DataParallelOptions& exchange, int ranks) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const auto fits = [&](std::int64_t samples) {
    const BatchSplit split{
        .batch = samples * lanes * ranks, .ranks = ranks, .lanes = lanes, .micro_batch = samples};
    return static_cast<double>(
               memory_need(workload, split, dtype, recompute, {.exchange = exchange}).total()) <=
           bytes;
  };
  if (!fits(1)) return 0;
  std::int64_t low = 1, high = 2;
  for (; high < kMost && fits(high); high *= 2) low = high;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low > 16 ? low / 8 * 8 : low;
}

}  // namespace bench::training
