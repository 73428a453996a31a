#include "results/output/verdicts/roofline_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"

namespace bench {
namespace {

// Rooflines of all sides in one plot, as a self-contained page.

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
    page.figure(
        to_svg(plot),
        "Lines: attainable rate, the lower of peak compute and bandwidth; points: measured GEMMs");
  for (const Roofline& roofline : rooflines) {
    page.heading(roofline.name + (roofline.hardware.empty() ? "" : ", " + roofline.hardware) +
                 " (" + roofline.device + ")");
    if (!roofline.lacking.empty()) page.note(roofline.lacking);
    page.table(points_page_table(roofline));
  }
  return page.html();
}

namespace {

std::string rate_of(double value) {
  return std::isfinite(value) ? format(value, Unit::flop_per_second) : "";
}

std::string share_of(double part, double whole) {
  const double share = part / whole;
  return std::isfinite(share) ? fmt::format("{:.1f} %", 100.0 * share) : "";
}

Json point_json(const RooflinePoint& point) {
  return {{"name", point.name},
          {"dtype", point.dtype},
          {"intensity", number_or_null(point.intensity)},
          {"rate", number_or_null(point.rate)},
          {"roof", number_or_null(point.roof)},
          {"bound", point.by_memory ? "memory" : "compute"}};
}

std::string head_of(const Roofline& roofline, const TextStyle& style) {
  std::string text = paint(printable(roofline.name), Paint::bold, style);
  if (!roofline.hardware.empty()) text += "  " + printable(roofline.hardware);
  text += "  (" + printable(roofline.device) + ")\n";
  if (!roofline.lacking.empty())
    return text + "  " + paint(wrap(roofline.lacking, 2, 2, style), Paint::yellow, style) + "\n";
  return text + fmt::format("  memory  {} ({})\n",
                            format(roofline.bandwidth, Unit::byte_per_second),
                            printable(roofline.bandwidth_of));
}

std::string ceilings_text(const Roofline& roofline, const TextStyle& style) {
  Table table({{.title = "dtype", .right = false},
               {.title = "fastest GEMM"},
               {.title = "limit"},
               {.title = "of limit"},
               {.title = "ridge, FLOP/byte"}});
  for (const Ceiling& ceiling : roofline.ceilings) {
    const double peak = std::isfinite(ceiling.limit) ? ceiling.limit : ceiling.measured;
    const double ridge = peak / roofline.bandwidth;
    table.add({{printable(ceiling.dtype)},
               {rate_of(ceiling.measured)},
               {rate_of(ceiling.limit)},
               {share_of(ceiling.measured, ceiling.limit)},
               {std::isfinite(ridge) ? fmt::format("{:.3g}", ridge) : ""}});
  }
  return table.render(2, style);
}

std::string points_text(const Roofline& roofline, const TextStyle& style) {
  Table table({{.title = "GEMM", .right = false},
               {.title = "FLOP/byte"},
               {.title = "rate"},
               {.title = "roof"},
               {.title = "of roof"},
               {.title = "bound by", .right = false}});
  for (const RooflinePoint& point : roofline.points)
    table.add({{printable(point.name)},
               {fmt::format("{:.3g}", point.intensity)},
               {rate_of(point.rate)},
               {rate_of(point.roof)},
               {share_of(point.rate, point.roof)},
               {point.by_memory ? "memory" : "compute"}});
  return table.render(2, style);
}

}  // namespace

std::string to_text(const std::vector<Roofline>& rooflines, const TextStyle& style) {
  std::string text;
  for (const Roofline& roofline : rooflines)
    text += head_of(roofline, style) + ceilings_text(roofline, style) + "\n" +
            points_text(roofline, style) + "\n";
  return text;
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
