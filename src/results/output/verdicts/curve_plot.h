// Learning curves: gap to the floor over samples on a logarithmic axis, one curve per run, with
// target and baselines as lines. The floor is gap 0, below any such axis.
#pragma once

#include <string>
#include <vector>

#include "results/output/document/text_style.h"
#include "results/verdicts/training/training_report.h"
#include "results/verdicts/training/training_run.h"

namespace bench {

/// A reference gap: the target, or a baseline (facts "baselines").
struct PlotLine {
  std::string name;
  double gap = kNoValue;
};

struct PlotCurve {
  std::string name;  // "seed 3"
  std::vector<CurvePoint> points;
};

struct CurvePlot {
  std::vector<PlotCurve> curves;
  std::vector<PlotLine> lines;
  std::string zero = "floor";    // what the gap 0 is
  double low = 0.0, high = 0.0;  // ends of the gap axis, both > 0
  double samples = 0.0;          // end of the samples axis
  bool empty() const { return curves.empty(); }
  /// 0 at the low end of the axis, 1 at the high end; values outside are clamped.
  double height(double gap) const;
};

/// Empty if no run has two points.
CurvePlot curve_plot(const TrainingGroup& group);

/// "" for an empty one.
std::string to_text(const CurvePlot& plot, const TextStyle& style);
/// An <svg> element that needs nothing from elsewhere; "" for an empty one.
std::string to_svg(const CurvePlot& plot);

}  // namespace bench
