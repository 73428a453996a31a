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
    for (const OperatorPoint& point : roofline.operators)
      if (point.intensity > 0.0) least = std::min(least, 0.5 * point.intensity);
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

/// Those with FLOPs.
PlotSeries operator_marks(const Roofline& roofline) {
  PlotSeries series{.name = roofline.name + " operators", .x = {}, .y = {}, .mark = Mark::points};
  std::vector<std::pair<double, double>> points;
  for (const OperatorPoint& point : roofline.operators)
    if (point.intensity > 0.0) points.emplace_back(point.intensity, point.rate);
  std::ranges::sort(points);
  for (const auto& [intensity, rate] : points) {
    series.x.push_back(intensity);
    series.y.push_back(rate);
  }
  return series;
}

/// What the bandwidth of a cache allows, up to the highest peak.
PlotSeries roof_of(const Roofline& roofline, const LevelBandwidth& level, double least) {
  double peak = 0.0;
  for (const Ceiling& ceiling : roofline.ceilings)
    peak = std::fmax(peak, std::isfinite(ceiling.limit) ? ceiling.limit : ceiling.measured);
  const double ridge = std::max(least, peak / level.bandwidth);
  return {.name = roofline.name + " " + level.level,
          .x = {least, ridge},
          .y = {least * level.bandwidth, ridge * level.bandwidth}};
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

const char* bound_by(bool memory) { return memory ? "memory" : "compute"; }

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
                          {bound_by(point.by_memory)}});
  return table;
}

DocumentTable levels_table(const Roofline& roofline) {
  DocumentTable table{{{"level", false}, {"traffic"}, {"kernel", false}}};
  for (const LevelBandwidth& level : roofline.levels)
    table.rows.push_back(
        {{level.level}, value_cell(level.bandwidth, Unit::byte_per_second), {level.kernel}});
  return table;
}

DocumentTable operators_table(const Roofline& roofline) {
  DocumentTable table{{{"operator", false},
                       {"dtype", false, 6},
                       {"shape", false},
                       {"time"},
                       {"FLOP/byte", true, 5},
                       {"rate", true, 1},
                       {"traffic", true, 3},
                       {"level", false, 2},
                       {"of roof"},
                       {"bound by", false},
                       {"memory", true, 4}}};
  for (const OperatorPoint& point : roofline.operators)
    table.rows.push_back({{point.name},
                          {point.dtype},
                          {point.shape},
                          value_cell(point.time, Unit::second),
                          numeric_intensity(point.intensity),
                          numeric_rate(point.rate),
                          value_cell(point.traffic, Unit::byte_per_second),
                          {point.level},
                          share_cell(point.of_roof),
                          {std::isnan(point.of_roof) ? "" : bound_by(point.by_memory)},
                          value_cell(point.memory, Unit::byte)});
  return table;
}

/// All rooflines with their GEMMs and operators; no series if none has a bandwidth.
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
    for (const LevelBandwidth& level : roofline.levels)
      if (level.level.find('/') == std::string::npos && level.level != "memory")
        plot.series.push_back(roof_of(roofline, level, least));
    if (const PlotSeries marks = operator_marks(roofline); !marks.x.empty())
      plot.series.push_back(marks);
  }
  return plot;
}

Json point_json(const RooflinePoint& point) {
  return {{"name", point.name},
          {"dtype", point.dtype},
          {"intensity", number_or_null(point.intensity)},
          {"rate", number_or_null(point.rate)},
          {"roof", number_or_null(point.roof)},
          {"bound", bound_by(point.by_memory)}};
}

Json operator_json(const OperatorPoint& point) {
  return {{"name", point.name},
          {"shape", point.shape},
          {"dtype", point.dtype},
          {"level", text_or_null(point.level)},
          {"intensity", number_or_null(point.intensity)},
          {"time_s", number_or_null(point.time)},
          {"rate", number_or_null(point.rate)},
          {"traffic", number_or_null(point.traffic)},
          {"memory_bytes", number_or_null(point.memory)},
          {"of_roof", number_or_null(point.of_roof)},
          {"bound", std::isnan(point.of_roof) ? Json(nullptr) : Json(bound_by(point.by_memory))}};
}

}  // namespace

Document to_document(const std::vector<Roofline>& rooflines) {
  Document document{.title = "Roofline"};
  if (const Plot plot = roofline_plot(rooflines); !plot.series.empty())
    document.add(Figure{to_svg(plot),
                        "Lines: attainable rate, the lower of peak compute and bandwidth; points: "
                        "measured GEMMs and "
                        "operators"});
  for (const Roofline& roofline : rooflines) {
    document.add(Heading{roofline.name +
                         (roofline.hardware.empty() ? "" : ", " + roofline.hardware) + " (" +
                         roofline.device + ")"});
    if (!roofline.lacking.empty()) {
      document.add(Note{roofline.lacking});
    } else {
      document.add(
          Paragraph{fmt::format("memory {} ({})", format(roofline.bandwidth, Unit::byte_per_second),
                                roofline.bandwidth_of)});
      document.add(ceilings_table(roofline));
      document.add(points_table(roofline));
    }
    if (roofline.operators.empty()) continue;
    document.add(Heading{"Operators"});
    document.add(
        Paragraph{"Of roof: the least time by the fastest GEMM of the type and by the traffic that "
                  "the level of "
                  "the tensors can move, over the measured time."});
    if (!roofline.levels.empty()) document.add(levels_table(roofline));
    document.add(operators_table(roofline));
  }
  return document;
}

Json to_json(const std::vector<Roofline>& rooflines) {
  Json list = Json::array();
  for (const Roofline& roofline : rooflines) {
    Json ceilings = Json::array(), points = Json::array(), levels = Json::array(),
         operators = Json::array();
    for (const LevelBandwidth& level : roofline.levels)
      levels.push_back({{"level", level.level},
                        {"bandwidth", level.bandwidth},
                        {"kernel", text_or_null(level.kernel)}});
    for (const OperatorPoint& point : roofline.operators) operators.push_back(operator_json(point));
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
                    {"points", std::move(points)},
                    {"levels", std::move(levels)},
                    {"operators", std::move(operators)}});
  }
  return {{"rooflines", std::move(list)}};
}

}  // namespace bench
