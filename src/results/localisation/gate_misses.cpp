#include "results/localisation/gate_misses.h"

#include "results/json_fields.h"

namespace bench {
namespace {

constexpr double kCrowdedShortfall = 0.5;

}  // namespace

double bound_of(const Gate& gate, const Series& series) {
  if (gate.min) return *gate.min;
  if (gate.max) return *gate.max;
  if (!gate.min_of_limit || !series.limit) return kNoValue;
  return series.better == Better::lower ? series.limit->value / *gate.min_of_limit
                                        : series.limit->value * *gate.min_of_limit;
}

bool is_floor(const Gate& gate, const Series& series) {
  return gate.min || (!gate.max && series.better != Better::lower);
}

double shortfall(double value, double bound, bool floor) {
  return 1.0 - (floor ? value / bound : bound / value);
}

// Other work costs time slices, not half of the best sample.
bool misses(const GateResult& gate, const Series& series) {
  if (gate.verdict == Verdict::fail) return true;
  if (gate.verdict == Verdict::pass || !gate.measured || series.clean > 0) return false;
  const bool floor = is_floor(gate.gate, series);
  return shortfall(floor ? series.max : series.min, bound_of(gate.gate, series), floor) >=
         kCrowdedShortfall;
}

}  // namespace bench
