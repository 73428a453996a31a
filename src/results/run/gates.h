// Suite gates: bounds on metrics, judged on the confidence interval of the median rather than the
// median alone. A gate without data never passes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/run/series.h"

namespace bench {

enum class Verdict { pass, fail, inconclusive };

std::string_view to_string(Verdict verdict);
/// The worst of several verdicts: fail, then inconclusive, then pass.
Verdict worse(Verdict a, Verdict b);

/// As written in the suite; bounds are in the metric's base unit.
struct Gate {
  std::string case_name;
  std::string metric;           // with or without the probe's name
  Json where = Json::object();  // a series matches when its params contain all of these
  std::optional<double> min;
  std::optional<double> max;
  std::optional<double> min_of_limit;
  std::string band = {};    // the band that min or max is of; "" for a bound of its own
  std::string source = {};  // of the band
};

/// One gate judged on one series.
struct GateResult {
  Gate gate;
  Verdict verdict = Verdict::inconclusive;
  std::string reason;
  std::optional<std::size_t> series;  // index; nothing when no series matched
  /// False if there was nothing to judge: no series, not ok, no samples, no known limit.
  bool measured = false;
  /// Judged on clean samples; the interval may still be too wide to tell.
  bool judged = false;
  /// All jobs of its case were skipped, so nothing was asked of it.
  bool excused = false;
};

/// `gates` is the plan's {case: [gate, ...]}. Results in the order of cases (by name), gates,
/// series.
std::vector<GateResult> evaluate_gates(const Json& gates, const std::vector<const Series*>& series);

/// What the gate demands, for people: ">= 90 % of the limit".
std::string demand(const Gate& gate, Unit unit);

}  // namespace bench
