// Lines, points and rules on two axes.
#include "results/output/document/plot_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "results/output/document/markup.h"
#include "results/output/document/plot.h"
#include "results/output/document/svg.h"

namespace bench {
namespace {

/// Series with more points have no tooltips.
constexpr std::size_t kMostTitled = 400;
constexpr std::size_t kMostPoints = 2560;  // of a line: four a column of pixels

/// The stretches of a line between its gaps.
using Stretch = std::vector<SvgPlace>;

/// Of several points in one pixel column only the first, lowest, highest and last are visible.
Stretch visible(const Stretch& all) {
  if (all.size() < kMostPoints) return all;
  Stretch kept;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && std::floor(all[end].x) == std::floor(all[i].x)) ++end;
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(i);
    const auto last = all.begin() + static_cast<std::ptrdiff_t>(end);
    const auto [low, high] = std::ranges::minmax_element(first, last, {}, &SvgPlace::y);
    kept.insert(kept.end(), {*first, *std::min(low, high), *std::max(low, high), *(last - 1)});
    i = end;
  }
  return kept;
}

std::vector<Stretch> stretches(const PlotSeries& series, const std::vector<double>& values,
                               const Axes& axes) {
  std::vector<Stretch> found(1);
  for (std::size_t i = 0; i < values.size() && i < series.x.size(); ++i) {
    if (!axes.shows(series.x[i], values[i])) {
      if (!found.back().empty()) found.emplace_back();
      continue;
    }
    const SvgPlace place = axes.at(series.x[i], values[i]);
    if (series.mark == Mark::steps && !found.back().empty())
      found.back().push_back({place.x, found.back().back().y});
    found.back().push_back(place);
  }
  for (Stretch& stretch : found) stretch = visible(stretch);
  return found;
}

std::string coordinates(const Stretch& places) {
  std::string text;
  for (const SvgPlace& place : places) text += fmt::format("{:.1f},{:.1f} ", place.x, place.y);
  return text;
}

std::string lines_of(const PlotSeries& series, const Axes& axes) {
  std::string text;
  for (const Stretch& stretch : stretches(series, series.y, axes))
    if (stretch.size() > 1)
      text += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-width=\"1.6\"/>\n",
                          coordinates(stretch));
  return text;
}

std::string band_of(const PlotSeries& series, const Axes& axes) {
  const auto low = stretches(series, series.low, axes), high = stretches(series, series.high, axes);
  std::string text;
  for (std::size_t i = 0; i < low.size() && i < high.size(); ++i) {
    if (low[i].size() < 2 || high[i].size() < 2) continue;
    Stretch back(low[i].rbegin(), low[i].rend());
    text += fmt::format("<polygon points=\"{}{}\" stroke=\"none\" fill-opacity=\"0.18\"/>\n",
                        coordinates(high[i]), coordinates(back));
  }
  return text;
}

std::string bars_of(const PlotSeries& series, const Axes& axes) {
  std::string text;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (i >= series.low.size() || i >= series.high.size()) break;
    if (!axes.shows(series.x[i], series.low[i]) || !axes.y.shows(series.high[i])) continue;
    const SvgPlace low = axes.at(series.x[i], series.low[i]);
    text += svg_line(low, {low.x, axes.y.at(series.high[i])}, "stroke-width=\"1.2\"");
  }
  return text;
}

std::string points_of(const PlotSeries& series, const Axes& axes) {
  std::string text;
  std::set<std::pair<long, long>> seen;  // skip points that would overlap
  const bool titled = series.x.size() <= kMostTitled;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!axes.shows(series.x[i], series.y[i])) continue;
    const SvgPlace place = axes.at(series.x[i], series.y[i]);
    if (!seen.emplace(std::lround(place.x * 2.0), std::lround(place.y * 2.0)).second) continue;
    text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" stroke=\"none\"", place.x,
                        place.y);
    text += titled ? fmt::format("><title>{} {:.6g}: {:.6g}</title></circle>\n",
                                 escaped(series.name), series.x[i], series.y[i])
                   : "/>\n";
  }
  return text;
}

}  // namespace

std::string svg_series(const PlotSeries& series, std::size_t number, const Axes& axes) {
  const std::size_t colour = number % kSeriesColours.size();
  std::string inside;
  if (series.mark == Mark::points || series.mark == Mark::line_points)
    inside += bars_of(series, axes);
  else
    inside += band_of(series, axes);
  if (series.mark != Mark::points) inside += lines_of(series, axes);
  if (series.mark == Mark::points || series.mark == Mark::line_points)
    inside += points_of(series, axes);
  return fmt::format("<g class=\"s{0}\" stroke=\"{1}\" fill=\"{1}\">\n{2}</g>\n", colour,
                     kSeriesColours[colour], inside);
}

namespace {

constexpr double kLeft = 76.0, kTop = 30.0, kWide = 640.0, kHigh = 300.0, kRight = 24.0;
constexpr double kBelow = 52.0, kLegendRow = 20.0, kLegendColumns = 2.0;
constexpr int kUpwards = -90;  // degrees
constexpr std::size_t kMostNamed = 24, kMostName = 44;

Axes axes_of(const Plot& plot) {
  std::vector<double> x, y;
  for (const PlotSeries& series : plot.series) {
    if (series.x.size() != series.y.size())
      throw Error(ErrorKind::internal, fmt::format("series '{}' of a plot has {} x and {} y",
                                                   series.name, series.x.size(), series.y.size()));
    x.insert(x.end(), series.x.begin(), series.x.end());
    for (const auto* values : {&series.y, &series.low, &series.high})
      y.insert(y.end(), values->begin(), values->end());
  }
  for (const PlotRule& rule : plot.rules) (rule.vertical ? x : y).push_back(rule.at);
  return {make_axis(x, plot.log_x, kLeft, kLeft + kWide),
          make_axis(y, plot.log_y, kTop + kHigh, kTop)};
}

std::string grid_of(const Plot& plot, const Axes& axes) {
  std::string marks;
  const double bottom = kTop + kHigh, right = kLeft + kWide;
  for (const double tick : axes.y.ticks()) {
    const double y = axes.y.at(tick);
    marks += svg_line({kLeft, y}, {right, y}, kGridLook);
    marks += svg_text({kLeft - 6.0, y + 4.0}, "end", tick_label(tick));
  }
  for (const double tick : axes.x.ticks()) {
    const double x = axes.x.at(tick);
    marks += svg_line({x, kTop}, {x, bottom}, kGridLook);
    marks += svg_text({x, bottom + 17.0}, "middle", tick_label(tick));
  }
  marks += svg_line({kLeft, bottom}, {right, bottom}, kInkLook);
  marks += svg_line({kLeft, kTop}, {kLeft, bottom}, kInkLook);
  marks += svg_text({kLeft, 18.0}, "start", shortened(plot.title, 90));
  marks += svg_text({kLeft + kWide / 2.0, bottom + 37.0}, "middle", plot.x_label);
  return marks + svg_text({15.0, kTop + kHigh / 2.0}, "middle", plot.y_label, kUpwards);
}

std::string rules_of(const Plot& plot, const Axes& axes) {
  std::string text;
  for (const PlotRule& rule : plot.rules) {
    const Axis& axis = rule.vertical ? axes.x : axes.y;
    if (!axis.shows(rule.at)) continue;
    const double at = axis.at(rule.at);
    const double right = kLeft + kWide;
    text += rule.vertical ? svg_line({at, kTop}, {at, kTop + kHigh}, kRuleLook)
                          : svg_line({kLeft, at}, {right, at}, kRuleLook);
    const bool late = at > kLeft + kWide / 2.0;
    text += rule.vertical
                ? svg_text({late ? at - 4.0 : at + 4.0, kTop + 12.0}, late ? "end" : "start",
                           shortened(rule.name, kMostName))
                : svg_text({right - 2.0, at - 4.0}, "end", shortened(rule.name, kMostName));
  }
  return text;
}

struct Legend {
  std::string text;
  double height = 0.0;
};

Legend legend_of(const Plot& plot) {
  Legend legend;
  std::size_t named = 0, more = 0;
  const auto place = [](std::size_t i) {
    const double column = std::fmod(static_cast<double>(i), kLegendColumns);
    return SvgPlace{kLeft + column * kWide / kLegendColumns,
                    kTop + kHigh + kBelow + kLegendRow * (std::floor(i / kLegendColumns) + 0.5)};
  };
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    if (plot.series[i].name.empty()) continue;
    if (named >= kMostNamed && ++more) continue;
    const SvgPlace at = place(named++);
    const std::size_t colour = i % kSeriesColours.size();
    legend.text += fmt::format(
        "<rect class=\"s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"16\" height=\"5\" fill=\"{}\"/>\n",
        colour, at.x, at.y - 6.0, kSeriesColours[colour]);
    legend.text +=
        svg_text({at.x + 22.0, at.y}, "start", shortened(plot.series[i].name, kMostName));
  }
  if (more > 0) legend.text += svg_text(place(named++), "start", fmt::format("and {} more", more));
  legend.height = kLegendRow * std::ceil(static_cast<double>(named) / kLegendColumns);
  return legend;
}

}  // namespace

std::string to_svg(const Plot& plot) {
  const Axes axes = axes_of(plot);
  std::string inside = grid_of(plot, axes);
  for (std::size_t i = 0; i < plot.series.size(); ++i)
    inside += svg_series(plot.series[i], i, axes);
  inside += rules_of(plot, axes);
  const Legend legend = legend_of(plot);
  return svg_frame(kLeft + kWide + kRight, kTop + kHigh + kBelow + legend.height + 6.0, plot.title,
                   inside + legend.text);
}

}  // namespace bench
