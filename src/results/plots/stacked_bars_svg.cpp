#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/acceptance/markup.h"
#include "results/plots/stacked_bars.h"
#include "results/plots/svg.h"

namespace bench {
namespace {

constexpr double kBarsTop = 34.0, kBarHeight = 18.0, kBarStep = 40.0, kBarsWidth = 620.0;
constexpr double kBarsLeft = 10.0, kLegendStep = 20.0, kKeyWidth = 310.0;
constexpr std::size_t kMostBarName = 90;
constexpr std::size_t kKeysOfLine = 2;

std::string piece(SvgPlace at, double width, std::size_t part, const std::string& name,
                  double share) {
  const std::size_t colour = part % kSeriesColours.size();
  return fmt::format(
      "<rect class=\"s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
      "fill=\"{}\"><title>{} {:.1f} %</title></rect>\n",
      colour, at.x, at.y, width, kBarHeight, kSeriesColours.at(colour), escaped(name),
      100.0 * share);
}

std::string bar_svg(const StackedBars& bars, std::size_t row) {
  const double y = kBarsTop + kBarStep * static_cast<double>(row);
  std::string text =
      svg_text({kBarsLeft, y + 12.0}, "start", shortened(bars.bars[row], kMostBarName));
  double begin = 0.0;
  for (std::size_t part = 0; part < bars.parts.size(); ++part) {
    const double share = row < bars.shares.size() && part < bars.shares[row].size()
                             ? bars.shares[row][part]
                             : std::nan("");
    if (!(share > 0.0) || begin >= 1.0) continue;
    const double end = std::min(1.0, begin + share);
    text += piece({kBarsLeft + kBarsWidth * begin, y + 17.0}, kBarsWidth * (end - begin), part,
                  bars.parts[part], share);
    begin = end;
  }
  return text;
}

std::string keys_of_parts(const StackedBars& bars, double top) {
  std::string text;
  for (std::size_t part = 0; part < bars.parts.size(); ++part) {
    const double x = kBarsLeft + kKeyWidth * static_cast<double>(part % kKeysOfLine);
    const double y = top + kLegendStep * static_cast<double>(part / kKeysOfLine);
    const std::size_t colour = part % kSeriesColours.size();
    text += fmt::format(
        "<rect class=\"s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"10\" fill=\"{}\"/>\n",
        colour, x, y, kSeriesColours.at(colour));
    text += svg_text({x + 17.0, y + 9.5}, "start", shortened(bars.parts[part], kMostBarName / 2));
  }
  return text;
}

}  // namespace

std::string to_svg(const StackedBars& bars) {
  if (bars.bars.empty() || bars.parts.empty()) return "";
  std::string inside = svg_text({kBarsLeft, 18.0}, "start", bars.title);
  for (std::size_t row = 0; row < bars.bars.size(); ++row) inside += bar_svg(bars, row);
  const double bottom = kBarsTop + kBarStep * static_cast<double>(bars.bars.size()) + 6.0;
  const double lines =
      std::ceil(static_cast<double>(bars.parts.size()) / static_cast<double>(kKeysOfLine));
  return svg_frame(2.0 * kBarsLeft + kBarsWidth, bottom + kLegendStep * lines, bars.title,
                   inside + keys_of_parts(bars, bottom));
}

}  // namespace bench
