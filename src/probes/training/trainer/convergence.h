// When a run has reached its target. A run is evaluated every so many samples, so the number of
// samples it needed is known to that grain; a line between the last two evaluations is more
// precise, and every use labels it as interpolated.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace bench::training {

/// One evaluation.
struct CurvePoint {
  std::int64_t step = 0;  // after so many
  double samples = 0.0;   // trained on so far
  double seconds = 0.0;   // since run_start
  double gap = 0.0;
  double native = 0.0;
  double floor = 0.0;
  double loss = 0.0;  // mean of training since the evaluation before
};

/// Whether a gap meets the target; one that is no number does not, and where there is no target
/// none does.
inline bool meets(double gap, std::optional<double> target) { return target && gap <= *target; }

/// The samples at which the line through the last two points meets the target; those of the last
/// point where it is the only one, or where the line does not fall. Nothing where the last point
/// does not meet the target.
std::optional<double> samples_to_target(const std::vector<CurvePoint>& curve,
                                        std::optional<double> target);

}  // namespace bench::training
