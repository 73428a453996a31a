#include "results/output/verdicts/roofline_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "results/output/document/plot.h"

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

PlotSeries gemm_marks(const Roofline& roofline) {
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

DocumentCell numeric_rate(double value) {
  return numeric(value, format(value, Unit::flop_per_second));
}

DocumentCell numeric_ratio(double part, double whole) {
  return numeric(part / whole, fmt::format("{:.1f} %", 100.0 * part / whole));
}

DocumentCell numeric_intensity(double value) {
  return numeric(value, fmt::format("{:.3g}", value));
}

DocumentTable ceilings_table(const Roofline& roofline) {
  DocumentTable table{
      {{"dtype", false}, {"fastest GEMM"}, {"limit"}, {"of limit"}, {"ridge, FLOP/byte"}}};
  for (const Ceiling& ceiling : roofline.ceilings) {
    const double peak = std::isfinite(ceiling.limit) ? ceiling.limit : ceiling.measured;
    table.rows.push_back({{ceiling.dtype},
                          numeric_rate(ceiling.measured),
                          numeric_rate(ceiling.limit),
                          numeric_ratio(ceiling.measured, ceiling.limit),
                          numeric_intensity(peak / roofline.bandwidth)});
  }
  return table;
}

DocumentTable points_table(const Roofline& roofline) {
  DocumentTable table{
      {{"GEMM", false}, {"FLOP/byte"}, {"rate"}, {"roof"}, {"of roof"}, {"bound by", false}}};
  for (const RooflinePoint& point : roofline.points)
    table.rows.push_back({{point.name},
                          numeric_intensity(point.intensity),
                          numeric_rate(point.rate),
                          numeric_rate(point.roof),
                          numeric_ratio(point.rate, point.roof),
                          {point.by_memory ? "memory" : "compute"}});
  return table;
}

/// All rooflines with their GEMMs; no series if none has a bandwidth.
Plot roofline_plot(const std::vector<Roofline>& rooflines) {
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
    if (!roofline.points.empty()) plot.series.push_back(gemm_marks(roofline));
  }
  return plot;
}

Json point_json(const RooflinePoint& point) {
  return {{"name", point.name},
          {"dtype", point.dtype},
          {"intensity", number_or_null(point.intensity)},
          {"rate", number_or_null(point.rate)},
          {"roof", number_or_null(point.roof)},
          {"bound", point.by_memory ? "memory" : "compute"}};
}

}  // namespace

Document to_document(const std::vector<Roofline>& rooflines) {
  Document document{.title = "Roofline"};
  if (const Plot plot = roofline_plot(rooflines); !plot.series.empty())
    document.add(Figure{
        to_svg(plot),
        "Lines: attainable rate, the lower of peak compute and bandwidth; points: measured GEMMs"});
  for (const Roofline& roofline : rooflines) {
    document.add(Heading{roofline.name +
                         (roofline.hardware.empty() ? "" : ", " + roofline.hardware) + " (" +
                         roofline.device + ")"});
    if (!roofline.lacking.empty()) {
      document.add(Note{roofline.lacking});
      continue;
    }
    document.add(
        Paragraph{fmt::format("memory {} ({})", format(roofline.bandwidth, Unit::byte_per_second),
                              roofline.bandwidth_of)});
    document.add(ceilings_table(roofline));
    document.add(points_table(roofline));
  }
  return document;
}

Json to_json(const std::vector<Roofline>& rooflines) {
  Json list = Json::array();
  for (const Roofline& roofline : rooflines) {
    Json ceilings = Json::array(), points = Json::array();
    for (const Ceiling& ceiling : roofline.ceilings)
      ceilings.push_back({{"dtype", ceiling.dtype},
                          {"measured", number_or_null(ceiling.measured)},
                          {"limit", number_or_null(ceiling.limit)}});
    for (const RooflinePoint& point : roofline.points) points.push_back(point_json(point));
    list.push_back({{"name", roofline.name},
                    {"hardware", text_or_null(roofline.hardware)},
                    {"device", roofline.device},
                    {"bandwidth", number_or_null(roofline.bandwidth)},
                    {"bandwidth_of", text_or_null(roofline.bandwidth_of)},
                    {"lacking", text_or_null(roofline.lacking)},
                    {"ceilings", std::move(ceilings)},
                    {"points", std::move(points)}});
  }
  return {{"rooflines", std::move(list)}};
}

}  // namespace bench
