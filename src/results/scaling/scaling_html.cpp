#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/pages/page.h"
#include "results/plots/plot.h"
#include "results/scaling/scaling_output.h"
#include "results/scaling/scaling_words.h"

namespace bench {
namespace {

constexpr int kSmooth = 60;  // points of a fitted line

PlotSeries measured_series(const ScalingCurve& curve) {
  PlotSeries series{"measured", {}, {}, {}, {}, Mark::points};
  for (const ScalePoint& point : curve.points) {
    series.x.push_back(point.n);
    series.y.push_back(point.efficiency.value);
    series.low.push_back(point.efficiency.low);
    series.high.push_back(point.efficiency.high);
  }
  return series;
}

/// Fit as efficiency relative to the measured base, like the points.
PlotSeries fitted_series(const ScalingCurve& curve, const ScalingFit& fit) {
  PlotSeries series{fit.model == "usl" ? "USL" : "Amdahl", {}, {}, {}, {}};
  const ScalePoint& base = curve.points.front();
  const double own = rate_of(curve.law, base.n, base.value.value) / base.n;
  const double last = 2.0 * curve.points.back().n;
  for (int i = 0; i <= kSmooth; ++i) {
    const double n = curve.base * std::pow(last / curve.base, i / static_cast<double>(kSmooth));
    const auto at = predict(fit, std::clamp(n, curve.base, last));
    if (!at) continue;
    series.x.push_back(n);
    series.y.push_back(at->rate / (n * own));
    series.low.push_back(at->low / (n * own));
    series.high.push_back(at->high / (n * own));
  }
  return series;
}

std::string drawing(const ScalingCurve& curve) {
  Plot plot{"Efficiency of " + curve.metric, curve.over, "efficiency", true};
  plot.series.push_back(measured_series(curve));
  for (const ScalingFit& fit : curve.fits) plot.series.push_back(fitted_series(curve, fit));
  // One band is enough to read.
  if (plot.series.size() > 2) plot.series[2].low.clear(), plot.series[2].high.clear();
  plot.rules.push_back({"ideal", 1.0});
  return to_svg(plot);
}

PageCell number_cell(double value, const std::string& text) { return {text, value}; }

PageTable points_of(const ScalingCurve& curve) {
  PageTable table{{curve.over, "runs", "value", "interval", "speedup", "efficiency", "Karp-Flatt",
                   "communication", "samples to target", "time efficiency"},
                  {}};
  for (const ScalePoint& point : curve.points)
    table.rows.push_back(
        {number_cell(point.n, fmt::format("{:g}", point.n)),
         number_cell(static_cast<double>(point.values.size()), std::to_string(point.values.size())),
         number_cell(point.value.value, format(point.value.value, curve.unit)),
         {range_words(point.value.low, point.value.high, curve.unit)},
         number_cell(point.speed_up, fmt::format("{:.3g}", point.speed_up)),
         number_cell(point.efficiency.value, share_words(point.efficiency)),
         number_cell(point.karp_flatt, std::isfinite(point.karp_flatt)
                                           ? fmt::format("{:.4f}", point.karp_flatt)
                                           : ""),
         number_cell(point.communication, share_words({point.communication})),
         number_cell(point.samples_penalty, std::isfinite(point.samples_penalty)
                                                ? fmt::format("x {:.2f}", point.samples_penalty)
                                                : ""),
         number_cell(point.time_efficiency, share_words({point.time_efficiency}))});
  return table;
}

}  // namespace

std::string to_html(const ScalingReport& report) {
  Page page("Scaling");
  page.text("Runs " + join(report.runs, ", "));
  for (const std::string& warning : report.warnings) page.note(warning);
  if (report.curves.empty())
    page.note("No metric was measured at two values of " + report.over + ".");
  for (const ScalingCurve& curve : report.curves) {
    page.heading(title_of(curve)).text(law_words(curve)).table(points_of(curve));
    page.figure(drawing(curve), "Bars and band: " + curve.interval +
                                    "; the band of a law is the 95 % prediction interval of one more run, up to twice the largest measured value.");
    for (const std::string& line : fit_lines(curve)) page.text(line);
  }
  return page.html();
}

}  // namespace bench
