#include "results/training/training_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/order_statistics.h"

namespace bench {
namespace {

void merge_throughput(TrainingGroup& group) {
  std::vector<double> rates;
  for (const TrainingRun& run : group.runs)
    if (was_timed(run) && std::isfinite(run.items_per_second))
      rates.push_back(run.items_per_second);
  if (rates.empty()) return;
  group.items_per_second = median(rates);
  if (const auto interval = median_interval(rates)) {
    group.items_low = interval->low;
    group.items_high = interval->high;
    group.items_interval = fmt::format("95 % confidence interval of the median of {} runs", rates.size());
  } else if (rates.size() > 1) {
    group.items_low = std::ranges::min(rates);
    group.items_high = std::ranges::max(rates);
    group.items_interval = fmt::format("range of {} runs", rates.size());
  } else {
    const auto only = std::ranges::find_if(group.runs, was_timed);
    group.items_low = only->items_low;
    group.items_high = only->items_high;
    group.items_interval = "95 % confidence interval over windows of one run";
  }
}

/// MFU convention: FLOPs of the model without recomputation.
void merge_flops(TrainingGroup& group) {
  const std::string peak = text_field(object_field(group.facts, "peak_flops"), "kind");
  std::vector<double> shares;
  for (const TrainingRun& run : group.runs)
    if (const auto mfu = run.mfu.find(peak); was_timed(run) && mfu != run.mfu.end())
      shares.push_back(mfu->second);
  if (!shares.empty()) group.mfu = median(shares);
  const double a_sample = number_field(group.facts, "flops_per_sample");
  const double items = number_field(group.facts, "items_per_sample");
  if (items > 0.0 && a_sample > 0.0) group.flops = group.items_per_second / items * a_sample;
}

/// The rank that was slowest in most runs; of equals the first.
std::string most_often(const std::map<std::string, int>& counts) {
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  return most == counts.end() ? "" : most->first;
}

void merge_breakdown(TrainingGroup& group) {
  std::map<std::string, std::map<std::string, int>> slowest;
  for (const TrainingRun& run : group.runs) {
    if (!was_timed(run)) continue;
    for (const TrainingPhase& phase : run.breakdown) {
      auto at = std::ranges::find(group.breakdown, phase.phase, &TrainingPhase::phase);
      if (at == group.breakdown.end())
        at = group.breakdown.insert(at, {phase.phase, 0.0, kNoValue, {}});
      if (std::isfinite(phase.seconds)) at->seconds += phase.seconds;
      if (std::isfinite(phase.share)) at->share = 0.0;
      if (!phase.slowest_rank.empty()) ++slowest[phase.phase][phase.slowest_rank];
    }
  }
  double all = 0.0;
  for (const TrainingPhase& phase : group.breakdown)
    if (std::isfinite(phase.share)) all += phase.seconds;
  for (TrainingPhase& phase : group.breakdown) {
    if (std::isfinite(phase.share)) phase.share = all > 0.0 ? phase.seconds / all : kNoValue;
    phase.slowest_rank = most_often(slowest[phase.phase]);
  }
}

void merge_memory(TrainingGroup& group) {
  for (const TrainingRun& run : group.runs)
    for (const TrainingMemory& memory : run.memory) {
      auto at = std::ranges::find(group.memory, memory.label, &TrainingMemory::label);
      if (at == group.memory.end()) at = group.memory.insert(at, {memory.label, kNoValue});
      at->bytes = std::fmax(at->bytes, memory.bytes);
    }
}

void merge_energy(TrainingGroup& group) {
  std::vector<double> joules;
  for (const TrainingRun& run : group.runs) {
    if (!was_timed(run)) continue;
    const bool known = std::isfinite(run.energy_j);
    if (known || joules.empty()) group.energy_of = run.energy_of;
    if (known) joules.push_back(run.energy_j);
  }
  if (!joules.empty()) group.energy_j = mean(joules);
}

}  // namespace

void merge_runs(TrainingGroup& group) {
  merge_throughput(group);
  merge_flops(group);
  merge_breakdown(group);
  merge_memory(group);
  merge_energy(group);
  for (const TrainingRun& run : group.runs)
    group.straggler_spread = std::fmax(group.straggler_spread, run.straggler_spread);
}

}  // namespace bench
