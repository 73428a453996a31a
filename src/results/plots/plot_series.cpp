#include "results/plots/plot_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "results/acceptance/markup.h"

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

}  // namespace bench
