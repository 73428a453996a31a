#include "results/output/verdicts/curve_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/output/document/plot.h"
#include "results/verdicts/training/training_summary.h"

namespace bench {
namespace {

constexpr std::size_t kRows = 12;
constexpr std::size_t kLabel = 10;  // columns of the axis' labels
constexpr std::size_t kName = 22;   // columns kept free for the names of lines
constexpr std::size_t kMostColumns = 72;
constexpr std::size_t kMostBaselines = 6;
/// Gaps at or below the floor are noise of the samples: they are drawn at the lower edge.
constexpr double kLeastGap = 1e-9;
/// Upper end of the axis: larger gaps are not a meaningful quality.
constexpr double kLargestGap = 1e9;

void add_lines(const TrainingGroup& group, CurvePlot& plot) {
  if (group.setup.target > 0.0) plot.lines.push_back({"target", group.setup.target});
  for (const auto& [name, gap] : object_field(group.facts, "baselines").items())
    if (gap.is_number() && gap.get<double>() > 0.0 && plot.lines.size() <= kMostBaselines)
      plot.lines.push_back({name, gap.get<double>()});
}

void set_ends(CurvePlot& plot) {
  double low = HUGE_VAL, high = 0.0;
  const auto take = [&](double gap) {
    if (!(gap > kLeastGap) || !(gap < kLargestGap)) return;
    low = std::min(low, gap);
    high = std::max(high, gap);
  };
  for (const PlotCurve& curve : plot.curves)
    for (const CurvePoint& point : curve.points) {
      take(point.gap);
      plot.samples = std::max(plot.samples, point.samples);
    }
  for (const PlotLine& line : plot.lines) take(line.gap);
  plot.low = std::isfinite(low) ? low / 1.3 : kLeastGap;
  plot.high = std::max(high * 1.1, plot.low * 2.0);
}

/// A grid of one character a cell, as texts because a character may be several bytes.
using Grid = std::vector<std::vector<std::string>>;

std::size_t row_of(const CurvePlot& plot, double gap) {
  const double from_top = (1.0 - plot.height(gap)) * static_cast<double>(kRows - 1);
  return static_cast<std::size_t>(std::lround(from_top));
}

/// The gap at a number of samples, straight between two points on the logarithmic axis.
double gap_at(const CurvePlot& plot, const CurvePoint& a, const CurvePoint& b, double samples) {
  const double part = (samples - a.samples) / (b.samples - a.samples);
  const double from = std::clamp(a.gap, plot.low, plot.high);
  const double to = std::clamp(b.gap, plot.low, plot.high);
  return from * std::pow(to / from, part);
}

void draw(const CurvePlot& plot, const PlotCurve& curve, const std::string& mark, Grid& grid) {
  const auto columns = grid.front().size();
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const CurvePoint &a = curve.points[i - 1], &b = curve.points[i];
    if (!(b.samples > a.samples)) continue;
    for (std::size_t x = 0; x < columns; ++x) {
      const double samples =
          (static_cast<double>(x) + 0.5) / static_cast<double>(columns) * plot.samples;
      if (samples < a.samples || samples > b.samples) continue;
      grid[row_of(plot, gap_at(plot, a, b, samples))][x] = mark;
    }
  }
}

std::string axis_label(const CurvePlot& plot, std::size_t row) {
  const bool shown = row == 0 || row + 1 == kRows || row == kRows / 2;
  if (!shown) return std::string(kLabel, ' ');
  const double share = 1.0 - static_cast<double>(row) / static_cast<double>(kRows - 1);
  return fmt::format("{:>{}.3g}", plot.low * std::pow(plot.high / plot.low, share), kLabel);
}

std::string name_at(const CurvePlot& plot, std::size_t row) {
  std::vector<std::string> names;
  for (const PlotLine& line : plot.lines)
    if (row_of(plot, line.gap) == row)
      names.push_back(fmt::format("{} {:.3g}", printable(line.name), line.gap));
  return names.empty() ? "" : " " + join(names, ", ");
}

}  // namespace

double CurvePlot::height(double gap) const {
  if (!(gap > low)) return 0.0;
  return gap < high ? std::log(gap / low) / std::log(high / low) : 1.0;
}

CurvePlot curve_plot(const TrainingGroup& group) {
  CurvePlot plot;
  for (const TrainingRun& run : group.runs)
    if (run.curve.size() > 1) plot.curves.push_back({fmt::format("seed {}", run.seed), run.curve});
  if (plot.curves.empty()) return plot;
  if (is_external(group)) plot.zero = "target";
  if (text_field(group.facts, "floor_kind") == "bound") plot.zero = "bound";
  add_lines(group, plot);
  set_ends(plot);
  if (!(plot.samples > 0.0)) plot.curves.clear();
  return plot;
}

std::string to_text(const CurvePlot& plot, const TextStyle& style) {
  if (plot.empty()) return "";
  const auto room = static_cast<std::size_t>(std::max(style.width, 60)) - kLabel - kName - 4;
  Grid grid(kRows, std::vector<std::string>(std::min(room, kMostColumns), " "));
  for (const PlotLine& line : plot.lines)
    for (std::string& cell : grid[row_of(plot, line.gap)]) cell = style.unicode ? "─" : "-";
  for (const PlotCurve& curve : plot.curves) draw(plot, curve, style.unicode ? "•" : "*", grid);
  std::string text = fmt::format("{:>{}}\n", "gap", kLabel);
  for (std::size_t row = 0; row < kRows; ++row) {
    text += axis_label(plot, row) + (style.unicode ? " │" : " |");
    for (const std::string& cell : grid[row]) text += cell;
    text += name_at(plot, row) + "\n";
  }
  const std::size_t columns = grid.front().size();
  text += std::string(kLabel + 1, ' ') + (style.unicode ? "└" : "+");
  for (std::size_t x = 0; x < columns; ++x) text += style.unicode ? "─" : "-";
  text += fmt::format(" {}: gap 0, below a logarithmic axis\n{:>{}}{:>{}} samples\n", plot.zero,
                      "0", kLabel + 2, rate_number(plot.samples), columns);
  return text;
}

std::string to_svg(const CurvePlot& plot) {
  if (plot.empty()) return "";
  Plot drawing{.title = "Gap to the " + plot.zero + " by samples",
               .x_label = "samples",
               .y_label = "gap",
               .log_y = true};
  for (const PlotCurve& curve : plot.curves) {
    PlotSeries series{.name = curve.name, .x = {}, .y = {}};
    for (const CurvePoint& point : curve.points) {
      series.x.push_back(point.samples);
      series.y.push_back(std::clamp(point.gap, plot.low, plot.high));
    }
    drawing.series.push_back(std::move(series));
  }
  for (const PlotLine& line : plot.lines)
    drawing.rules.push_back({fmt::format("{} {:.3g}", line.name, line.gap), line.gap});
  drawing.rules.push_back({plot.zero + ": gap 0, below this", plot.low});
  return to_svg(drawing);
}

}  // namespace bench
