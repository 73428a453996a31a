#include "results/output/document/dot_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "results/output/document/markup.h"
#include "results/output/document/svg.h"

namespace bench {
namespace {

constexpr double kNames = 310.0, kAxis = 450.0, kTopOfRows = 34.0, kRow = 34.0, kBelowRows = 46.0;
constexpr double kDot = 3.0, kMarkedDot = 4.5, kStep = 4.0;  // radii; distance of stacked dots
constexpr std::size_t kMostRowText = 38, kMostDotText = 24, kMostNamedDots = 3,
                      kMostTitledDots = 1000;

std::size_t count_dots(const DotPlot& plot) {
  std::size_t count = 0;
  for (const DotRow& row : plot.rows)
    count += static_cast<std::size_t>(
        std::ranges::count_if(row.dots, [](const Dot& dot) { return std::isfinite(dot.value); }));
  return count;
}

Axis axis_of(const DotPlot& plot) {
  std::vector<double> values = plot.covered;
  for (const DotRow& row : plot.rows) {
    for (const Dot& dot : row.dots) values.insert(values.end(), {dot.value, dot.low, dot.high});
    values.push_back(row.low);
    values.push_back(row.high);
  }
  return make_axis(values, false, kNames, kNames + kAxis);
}

std::string grid(const DotPlot& plot, const Axis& axis) {
  const double bottom = kTopOfRows + kRow * static_cast<double>(plot.rows.size());
  std::string text = svg_text({8.0, 18.0}, "start", shortened(plot.title, 100));
  for (const double tick : axis.ticks()) {
    const double x = axis.at(tick);
    text += svg_line({x, kTopOfRows}, {x, bottom}, tick == 0.0 ? kInkLook : kGridLook);
    text += svg_text({x, bottom + 16.0}, "middle", tick_label(tick));
  }
  return text + svg_text({kNames + kAxis / 2.0, bottom + 34.0}, "middle", plot.x_label);
}

std::string tolerance(const DotRow& row, double top, const Axis& axis) {
  if (!axis.shows(row.low) || !axis.shows(row.high)) return "";
  return fmt::format(
      "<rect class=\"band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "fill=\"{}\" fill-opacity=\"0.13\"/>\n",
      axis.at(row.low), top + 2.0, axis.at(row.high) - axis.at(row.low), kRow - 4.0,
      kSeriesColours[7]);
}

std::string circle(const Dot& dot, SvgPlace at, bool titled) {
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" stroke=\"none\" fill-opacity=\"0.75\"{}",
      at.x, at.y, dot.marked ? kMarkedDot : kDot,
      titled ? fmt::format("><title>{}: {:.3g}</title></circle>\n", escaped(dot.name), dot.value)
             : "/>\n");
}

/// The dots of a row, marked ones last and so on top, with the names of some.
std::string dots_of(const DotRow& row, double middle, const Axis& axis, bool titled) {
  std::string plain, marked, names;
  std::map<long, int> stacked;  // dots at a place
  std::size_t named = 0;
  for (const Dot& dot : row.dots) {
    if (!axis.shows(dot.value)) continue;
    const double x = axis.at(dot.value);
    const int before = stacked[std::lround(x / kStep)]++;
    const double shift = kStep * ((before + 1) / 2) * (before % 2 == 0 ? 1.0 : -1.0);
    constexpr double kMostShift = kRow / 2.0 - kDot;
    if (!dot.marked && std::abs(shift) > kMostShift) continue;  // would lie on another one
    const SvgPlace at{x, middle + std::clamp(shift, -kMostShift, kMostShift)};
    std::string& dots = dot.marked ? marked : plain;
    if (axis.shows(dot.low) && axis.shows(dot.high))
      dots += svg_line({axis.at(dot.low), at.y}, {axis.at(dot.high), at.y}, "stroke-width=\"1.6\"");
    dots += circle(dot, at, titled);
    if (!dot.marked || ++named > kMostNamedDots) continue;
    const bool left = x > kNames + 0.75 * kAxis;
    constexpr std::array kNameShifts = {4.0, -7.0, 15.0};  // within the row
    names += svg_text({left ? x - 7.0 : x + 7.0, middle + kNameShifts[named - 1]},
                      left ? "end" : "start", shortened(dot.name, kMostDotText));
  }
  const auto group = [](int colour, const std::string& dots) {
    return dots.empty()
               ? ""
               : fmt::format("<g class=\"s{0}\" fill=\"{1}\" stroke=\"{1}\">\n{2}</g>\n", colour,
                             kSeriesColours[static_cast<std::size_t>(colour)], dots);
  };
  return group(0, plain) + group(1, marked) + names;
}

}  // namespace

std::string to_svg(const DotPlot& plot) {
  const std::size_t dots = count_dots(plot);
  if (dots == 0) return "";
  const Axis axis = axis_of(plot);
  std::string inside = grid(plot, axis);
  for (std::size_t i = 0; i < plot.rows.size(); ++i) {
    const DotRow& row = plot.rows[i];
    const double top = kTopOfRows + kRow * static_cast<double>(i), middle = top + kRow / 2.0;
    inside += svg_line({8.0, top + kRow}, {kNames + kAxis, top + kRow}, kGridLook);
    inside += tolerance(row, top, axis);
    inside +=
        fmt::format("<g><title>{}</title>{}</g>\n", escaped(row.name),
                    svg_text({8.0, middle + 4.0}, "start",
                             shortened(row.label.empty() ? row.name : row.label, kMostRowText)));
    inside += dots_of(row, middle, axis, dots <= kMostTitledDots);
  }
  const double height = kTopOfRows + kRow * static_cast<double>(plot.rows.size()) + kBelowRows;
  return svg_frame(kNames + kAxis + 30.0, height, plot.title, inside);
}

}  // namespace bench
