#include "results/output/verdicts/curve_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.h"
#include "results/output/document/markup.h"
#include "results/output/document/svg.h"
#include "results/verdicts/training/training_summary.h"

namespace bench {
namespace {

// The curve of quality as a drawing in a page.

constexpr double kLeft = 70.0, kTop = 14.0, kWide = 620.0, kHigh = 280.0;
constexpr double kNames = 150.0;  // to the right, for the names of lines
constexpr std::size_t kMostNamed = 12;
/// Told apart by people who confuse red and green (Okabe and Ito).
constexpr std::array<const char*, 6> kColours = {"#0072b2", "#d55e00", "#009e73",
                                                 "#cc79a7", "#56b4e9", "#e69f00"};

double x_of(const CurvePlot& plot, double samples) { return kLeft + kWide * plot.width(samples); }
double y_of(const CurvePlot& plot, double gap) { return kTop + kHigh * (1.0 - plot.height(gap)); }

std::string level(const CurvePlot& plot, double gap, const std::string& name,
                  std::string_view look) {
  const double y = y_of(plot, gap);
  return svg_line({kLeft, y}, {kLeft + kWide, y}, look) +
         svg_text({kLeft + kWide + 6.0, y + 4.0}, "start", name);
}

/// Ticks at 1, 2 and 5 of each decade within the axis.
std::string gap_axis(const CurvePlot& plot) {
  std::string marks;
  const int first = static_cast<int>(std::floor(std::log10(plot.low)));
  const int last = static_cast<int>(std::ceil(std::log10(plot.high)));
  for (int decade = first; decade <= last; ++decade)
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double gap = digit * std::pow(10.0, decade);
      if (gap < plot.low || gap > plot.high) continue;
      const double y = y_of(plot, gap);
      marks += svg_line({kLeft, y}, {kLeft + kWide, y}, kGridLook);
      marks += svg_text({kLeft - 6.0, y + 4.0}, "end", fmt::format("{:g}", gap));
    }
  return marks;
}

std::string samples_axis(const CurvePlot& plot) {
  std::string marks;
  for (int i = 0; i <= 4; ++i) {
    const double samples = plot.samples * i / 4.0;
    marks += svg_text({x_of(plot, samples), kTop + kHigh + 18.0}, "middle", rate_number(samples));
  }
  return marks + svg_text({kLeft + kWide / 2.0, kTop + kHigh + 36.0}, "middle", "samples");
}

std::string line_of(const CurvePlot& plot, const PlotCurve& curve, std::size_t number) {
  std::string points;
  for (const CurvePoint& point : curve.points)
    points += fmt::format("{:.1f},{:.1f} ", x_of(plot, point.samples), y_of(plot, point.gap));
  return fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\">"
      "<title>{}</title></polyline>\n",
      points, kColours[number % kColours.size()], escaped(curve.name));
}

std::string legend(const CurvePlot& plot) {
  std::string text;
  for (std::size_t i = 0; i < plot.curves.size() && i < kMostNamed; ++i)
    text += fmt::format("<tspan fill=\"{}\">{}</tspan> ", kColours[i % kColours.size()],
                        escaped(plot.curves[i].name));
  if (plot.curves.size() > kMostNamed)
    text += fmt::format("<tspan>and {} more</tspan>", plot.curves.size() - kMostNamed);
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kLeft, kTop + kHigh + 56.0,
                     text);
}

}  // namespace

std::string to_svg(const CurvePlot& plot) {
  if (plot.empty()) return "";
  std::string inside = gap_axis(plot) + samples_axis(plot);
  for (const PlotLine& line : plot.lines)
    inside +=
        level(plot, line.gap, fmt::format("{} {:.3g}", line.name, line.gap),
              line.name == "target" ? kRuleLook : "stroke=\"#888888\" stroke-dasharray=\"5 4\"");
  inside += level(plot, plot.low, plot.zero + ": gap 0, below this", kInkLook);
  for (std::size_t i = 0; i < plot.curves.size(); ++i) inside += line_of(plot, plot.curves[i], i);
  return svg_frame(kLeft + kWide + kNames, kTop + kHigh + 70.0, "gap to the floor vs. samples",
                   inside + legend(plot));
}

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

double CurvePlot::width(double at_samples) const {
  return samples > 0.0 ? std::clamp(at_samples / samples, 0.0, 1.0) : 0.0;
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

}  // namespace bench
