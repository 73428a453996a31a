#include "results/diagnosis/mended.h"

#include <algorithm>
#include <cmath>

#include "results/json_fields.h"

namespace bench::diagnosis {
namespace {

using Kind = Ceiling::Kind;

constexpr const char* kAfterFix = "unknown once the first bottleneck is fixed";

bool is_of_step(Measure measure) {
  return std::ranges::find(step_parts(), measure) != step_parts().end() ||
         measure == Measure::work_share || measure == Measure::launch_gap_share;
}

/// Measures that rules on the same share read, other than shares of T.
std::vector<Measure> measures_of(const Rule& fixed) {
  std::vector<Measure> measures;
  for (const Rule& rule : rules())
    if (rule.share && rule.share == fixed.share)
      for (const Bound& bound : rule.when)
        if (!is_of_step(bound.measure)) measures.push_back(bound.measure);
  return measures;
}

}  // namespace

double removed_part(const Ceiling& ceiling, const Observation& observation) {
  const double measure = std::clamp(observation.value(ceiling.measure), 0.0, 1.0);
  switch (ceiling.kind) {
    case Kind::share:
      return 1.0;
    case Kind::idle:
      return 1.0 - measure;
    case Kind::part:
      return measure;
    default:
      return kNoValue;
  }
}

double gain(const Ceiling& ceiling, const Observation& observation) {
  const double factor =
      ceiling.kind == Kind::clock
          ? 1.0 / observation.value(ceiling.measure)
          : 1.0 / (1.0 - observation.value(ceiling.share) * removed_part(ceiling, observation));
  return std::isfinite(factor) && factor >= 1.0 ? factor : kNoValue;
}

Observation after_fix(const Observation& observation, const Rule& rule) {
  Observation after = observation;
  for (const Measure measure : measures_of(rule)) after.set_missing(measure, kAfterFix);
  const Measure share = rule.ceiling.share;
  const double part = removed_part(rule.ceiling, observation) * observation.value(share);
  if (!std::isfinite(part) || !(part < 1.0)) return after;
  if (!is_of_step(share)) {
    after.set(share, observation.value(share) - part, "after the fix");
    return after;
  }
  for (const auto& [measure, before] : observation.all()) {
    if (!is_of_step(measure)) continue;
    const double left = measure == share ? before.value - part : before.value;
    after.set(measure, std::max(left, 0.0) / (1.0 - part), before.source);
  }
  after.set(Measure::work_share,
            after.value(Measure::passes_share) + after.value(Measure::optimizer_share),
            "passes and update");
  return after;
}

}  // namespace bench::diagnosis
