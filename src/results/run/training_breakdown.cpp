#include "results/run/training_breakdown.h"

#include <algorithm>
#include <cmath>

#include "results/run/chunk_table.h"

namespace bench {
namespace {

std::vector<TrainingPhase> phases_of(const Chunk* chunk) {
  std::vector<TrainingPhase> phases;
  const ChunkTable table(chunk);
  for (std::size_t i = 0; i < table.rows("phase"); ++i)
    if (const double seconds = table.number("seconds", i); std::isfinite(seconds))
      phases.push_back({table.text("phase", i), seconds, table.number("share", i),
                        table.text("slowest_rank", i)});
  return phases;
}

}  // namespace

TrainingBreakdown::TrainingBreakdown(const Chunk* chunk) : phases_(phases_of(chunk)) {}

bool TrainingBreakdown::has(std::string_view phase) const {
  return std::ranges::find(phases_, phase, &TrainingPhase::phase) != phases_.end();
}

double TrainingBreakdown::seconds(std::string_view phase) const {
  const auto found = std::ranges::find(phases_, phase, &TrainingPhase::phase);
  return found == phases_.end() ? 0.0 : found->seconds;
}

double TrainingBreakdown::run_seconds() const {
  double sum = 0.0;
  for (const TrainingPhase& one : phases_)
    if (one.phase != "exchange_hidden" && one.phase != "init") sum += one.seconds;
  return sum;
}

double TrainingBreakdown::step_seconds() const {
  return run_seconds() - seconds("evaluation") - seconds("checks");
}

double TrainingBreakdown::exposed_communication() const {
  return seconds("exchange_exposed") + seconds("tensor_exchange") + seconds("context_exchange") +
         seconds("expert_exchange");
}

TimeShares time_shares(const TrainingBreakdown& breakdown, int ranks, const Json& facts) {
  TimeShares shares;
  const double steps = breakdown.step_seconds();
  if (!(steps > 0.0)) return shares;
  const bool has_phases = breakdown.has("forward");  // others' logs may lack them
  const bool lookups_are_data = field(facts, "table_threads").is_number();
  if (has_phases && breakdown.has("data") && !lookups_are_data)
    shares.data_stall = breakdown.seconds("data") / steps;
  if (has_phases && ranks == 1) shares.exposed_communication = 0.0;
  if (const double all = breakdown.communication(); has_phases && ranks > 1 && all > 0.0) {
    shares.exposed_communication = breakdown.exposed_communication() / steps;
    shares.overlap_ratio = 1.0 - breakdown.exposed_communication() / all;
  }
  const bool resumed = number_field(facts, "resumed_from_step") > 0.0;
  const double start =
      breakdown.has("init") ? breakdown.seconds("init") : number_field(facts, "init_seconds");
  if (has_phases && !resumed)
    shares.goodput = (steps - breakdown.seconds("checkpoint")) / (start + breakdown.run_seconds());
  return shares;
}

}  // namespace bench
