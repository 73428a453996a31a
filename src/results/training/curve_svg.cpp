// The curve of quality as a drawing in a page.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "results/acceptance/markup.h"
#include "results/plots/svg.h"
#include "results/training/curve_plot.h"
#include "results/training/training_summary.h"

namespace bench {
namespace {

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

}  // namespace bench
