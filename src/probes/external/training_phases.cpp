// Where the time of a run went, from intervals that may overlap and come twice.
#include <algorithm>

#include "probes/external/training_log.h"

namespace bench::external {
namespace {

using Interval = std::pair<std::int64_t, std::int64_t>;

/// The parts inside `whole`, in order, without overlaps.
std::vector<Interval> merged(std::vector<Interval> parts, const Interval& whole) {
  std::vector<Interval> result;
  std::ranges::sort(parts);
  for (auto [begin, end] : parts) {
    begin = std::max(begin, whole.first);
    end = std::min(end, whole.second);
    if (begin >= end) continue;
    if (!result.empty() && begin <= result.back().second)
      result.back().second = std::max(result.back().second, end);
    else
      result.emplace_back(begin, end);
  }
  return result;
}

Seconds length(const std::vector<Interval>& parts) {
  std::int64_t sum = 0;
  for (const auto& [begin, end] : parts) sum += end - begin;
  return {1e-3 * static_cast<double>(sum)};
}

}  // namespace

std::vector<LoggedPhase> TrainingLog::breakdown() const {
  const auto run = run_time();
  if (!run || !(run->value > 0.0)) return {};
  const Interval whole{run_start_->line.time_ms, run_stop_->line.time_ms};
  std::vector<Interval> both = training_;
  both.insert(both.end(), evaluating_.begin(), evaluating_.end());
  const Seconds evaluation = length(merged(evaluating_, whole));
  const Seconds covered = length(merged(both, whole));
  std::vector<LoggedPhase> phases;
  if (const auto init = init_time()) phases.push_back({"init", *init});
  phases.push_back({"train", covered - evaluation});
  phases.push_back({"evaluation", evaluation});
  phases.push_back({"other", *run - covered});
  return phases;
}

}  // namespace bench::external
