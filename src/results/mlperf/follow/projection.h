// Projects when a training will reach its target.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace bench::mlperf {

/// One evaluation. Progress is in samples or epochs, depending on the benchmark.
struct EvaluationPoint {
  double progress = 0.0;
  double time_ms = 0.0;
  double quality = 0.0;
};

struct Projection {
  std::optional<double> progress = {};  // at the evaluation that reaches the target
  std::optional<double> stop_ms = {};   // end of that evaluation
  std::string why_not = {};             // why there is no projection
};

inline constexpr std::size_t kPointsForProjection = 5;  // the last five evaluations; at least three

/// Fits quality = a + b ln(progress) to the last points by least squares. The crossing with the
/// target is moved to the next evaluation, at the spacing of the last two; time advances at the
/// mean speed of the points used.
Projection project(std::span<const EvaluationPoint> points, double target, bool lower_is_better);

}  // namespace bench::mlperf
