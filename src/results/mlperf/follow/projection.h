// When a training that goes on as before will reach its target.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace bench::mlperf {

/// Progress is in samples or epochs, whichever the benchmark counts.
struct EvaluationPoint {
  double progress = 0.0;
  double time_ms = 0.0;
  double quality = 0.0;
};

struct Projection {
  std::optional<double> progress = {};  // at the evaluation that reaches the target
  std::optional<double> stop_ms = {};   // when that is over
  std::string why_not = {};             // where there is none
};

inline constexpr std::size_t kPointsForProjection = 5;  // the last ones; at least three of them

/// Through the last looks goes the line quality = a + b ln(progress), by least squares; its
/// crossing of the target is moved on to the next evaluation, at the distance of the last two, and
/// time goes on at the speed between the first and the last look used.
Projection project(std::span<const EvaluationPoint> points, double target, bool lower_is_better);

}  // namespace bench::mlperf
