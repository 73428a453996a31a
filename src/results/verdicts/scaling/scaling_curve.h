// Values of one metric over numbers of workers: efficiencies, fitted law and predictions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/units.h"
#include "results/stats/means.h"
#include "results/verdicts/scaling/scaling_fit.h"

namespace bench {

// How the time of a collective, or of work that grows with the workers, grows with their number:
// T(N) = t0 + t1 ln N + t2 N, each >= 0: a constant, a tree, a ring or one that serves all.

struct TimeAt {
  double n = 1.0;        // workers, >= 1
  double seconds = 0.0;  // > 0
};

struct TimeFit {
  double constant = 0.0, per_log = 0.0, per_worker = 0.0;  // seconds
  double deviation = kNoValue;                             // residual, relative
  double aicc = kNoValue;
  std::size_t values = 0;
  double seconds(double n) const;
};

/// Least squares of (T - fit) / T; among the sets of terms without negative coefficients the one
/// with the lowest AICc. Nothing below five different N.
std::optional<TimeFit> time_fit(std::span<const TimeAt> values);

/// Meaning of the metric's values, which determines ideal scaling.
enum class ScalingLaw {
  total_rate,   // of all workers together: n times
  own_rate,     // of each worker: the same
  strong_time,  // of the same work, divided among them: 1/n
  weak_time     // of as much work for each: the same
};
/// "total", "own", "strong", "weak".
std::string to_string(ScalingLaw law);
/// Throws Error(usage).
ScalingLaw scaling_law_from(const std::string& name);

struct ScalePoint {
  double n = 1.0;                   // workers
  std::vector<double> values = {};  // one a run (job), in the metric's unit
  Ratio value = {};                 // their geometric mean; of one run its samples' interval
  Ratio efficiency = {};
  double speed_up = kNoValue;  // of the whole, against the base
  double karp_flatt = kNoValue;
  double communication = kNoValue;    // share of the time that is not hidden, where it is known
  double samples_penalty = kNoValue;  // trainings: samples to the target over the base's
  double time_efficiency = kNoValue;  // trainings: in time to the target
};

struct ScalingCurve {
  std::string metric;
  Json params = Json::object();
  std::string device;
  std::string host = {};       // where the workers are a parameter's
  std::string case_name = {};  // set if another curve of the report would have the same title
  std::string over;            // "ranks", "hosts", or a parameter
  std::string kind;            // "strong", "weak", or "" if the law implies it
  ScalingLaw law = ScalingLaw::total_rate;
  Unit unit = Unit::count;
  Better better = Better::higher;
  double base = 1.0;                                // the fewest workers; 8 is another base than 1
  std::vector<ScalePoint> points = {};              // by n, at least two
  std::vector<ScalingFit> fits = {};                // the chosen one first
  std::string fit_words = {};                       // why this one was chosen, or why none was
  std::optional<TimeFit> times = {};                // weak_time
  double serial = kNoValue;                         // Gustafson's; weak_time
  std::vector<ScalingPrediction> predictions = {};  // in the metric's unit
  std::string interval = {};                        // what the intervals include
};

struct ScalingSettings {
  std::string over = "ranks";
  std::vector<std::string> metrics = {};  // names or their beginnings; all for none
  std::optional<ScalingLaw> law = {};     // instead of the metric's own
  std::vector<double> predict_at = {};    // in addition to twice the largest
};

/// Derives base, efficiencies, fits and predictions from the points' values.
void finish(ScalingCurve& curve, const ScalingSettings& settings);

/// Total rate for a value, and the inverse.
double rate_of(ScalingLaw law, double n, double value);
double value_of(ScalingLaw law, double n, double rate);

/// "collective.busbw (op all_reduce, size 64 MiB), weak". From outside: not made printable.
std::string title_of(const ScalingCurve& curve);

}  // namespace bench
