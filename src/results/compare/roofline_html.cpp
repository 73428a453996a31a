// Rooflines of all sides in one plot, as a self-contained page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/compare/roofline_output.h"
#include "results/pages/page.h"
#include "results/plots/plot.h"

namespace bench {
namespace {

/// From the lowest point to a decade beyond the last ridge.
std::pair<double, double> intensities(const std::vector<Roofline>& rooflines) {
  double least = 1.0, most = 100.0;
  for (const Roofline& roofline : rooflines) {
    for (const RooflinePoint& point : roofline.points) {
      least = std::min(least, 0.5 * point.intensity);
      most = std::max(most, 2.0 * point.intensity);
    }
    for (const Ceiling& ceiling : roofline.ceilings) {
      const double ridge = std::fmax(ceiling.limit, ceiling.measured) / roofline.bandwidth;
      if (std::isfinite(ridge)) most = std::max(most, 10.0 * ridge);
    }
  }
  return {least, most};
}

PlotSeries roof_of(const Roofline& roofline, const Ceiling& ceiling, double least, double most) {
  const double peak = std::isfinite(ceiling.limit) ? ceiling.limit : ceiling.measured;
  const double ridge = std::clamp(peak / roofline.bandwidth, least, most);
  PlotSeries series{
      .name = roofline.name + " " + ceiling.dtype, .x = {least, ridge, most}, .y = {}};
  for (const double x : series.x) series.y.push_back(std::min(peak, x * roofline.bandwidth));
  return series;
}

PlotSeries product_marks(const Roofline& roofline) {
  PlotSeries series{.name = roofline.name + " GEMMs", .x = {}, .y = {}, .mark = Mark::points};
  std::vector<std::pair<double, double>> points;
  for (const RooflinePoint& point : roofline.points)
    points.emplace_back(point.intensity, point.rate);
  std::ranges::sort(points);
  for (const auto& [intensity, rate] : points) {
    series.x.push_back(intensity);
    series.y.push_back(rate);
  }
  return series;
}

PageTable points_page_table(const Roofline& roofline) {
  PageTable table{{"GEMM", "FLOP/byte", "rate", "roof", "of roof", "bound by"}, {}};
  for (const RooflinePoint& point : roofline.points)
    table.rows.push_back(
        {{point.name},
         {fmt::format("{:.3g}", point.intensity), point.intensity},
         {format(point.rate, Unit::flop_per_second), point.rate},
         {format(point.roof, Unit::flop_per_second), point.roof},
         {fmt::format("{:.1f} %", 100.0 * point.rate / point.roof), point.rate / point.roof},
         {point.by_memory ? "memory" : "compute"}});
  return table;
}

}  // namespace

std::string to_html(const std::vector<Roofline>& rooflines) {
  Page page("Roofline");
  Plot plot{.title = "Roofline",
            .x_label = "FLOP/byte",
            .y_label = "FLOP/s",
            .log_x = true,
            .log_y = true};
  const auto [least, most] = intensities(rooflines);
  for (const Roofline& roofline : rooflines) {
    if (!roofline.lacking.empty()) continue;
    for (const Ceiling& ceiling : roofline.ceilings)
      plot.series.push_back(roof_of(roofline, ceiling, least, most));
    if (!roofline.points.empty()) plot.series.push_back(product_marks(roofline));
  }
  if (!plot.series.empty())
    page.figure(to_svg(plot),
                "Lines: attainable rate, the lower of peak compute and bandwidth; points: measured GEMMs");
  for (const Roofline& roofline : rooflines) {
    page.heading(roofline.name + (roofline.hardware.empty() ? "" : ", " + roofline.hardware) +
                 " (" + roofline.device + ")");
    if (!roofline.lacking.empty()) page.note(roofline.lacking);
    page.table(points_page_table(roofline));
  }
  return page.html();
}

}  // namespace bench
