// A table of numbers as colours.
#include "results/output/document/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "results/output/document/markup.h"
#include "results/output/document/svg.h"

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

namespace {

/// From worse to better; as far apart in grey as in colour (after ColorBrewer's PuOr and RdBu).
constexpr std::array<const char*, 9> kLevels = {"#8c3b00", "#c9600c", "#eb9d4f",
                                                "#f8d3a5", "#f2f2f2", "#c6dcec",
                                                "#86b9dc", "#3f8bc2", "#0f5a94"};
constexpr std::size_t kMostRows = 150;  // with a row of text each
constexpr std::size_t kMostTitledCells = 1000;
constexpr std::size_t kMostRowName = 36, kMostColumnName = 60;
constexpr double kCharacter = 7.4;           // of the font, on average, with a margin
constexpr int kSlope = -50;                  // degrees of the names of columns
constexpr double kRise = 0.77, kRun = 0.64;  // its sine and cosine

struct Cells {
  double left = 0.0, top = 0.0, width = 22.0, height = 15.0;
  double names = 0.0;  // how far the names of columns stand out to the right
};

std::size_t longest(const std::vector<std::string>& names, std::size_t most) {
  std::size_t length = 4;
  for (const std::string& name : names) length = std::max(length, std::min(name.size(), most));
  return length;
}

Cells cells_of(const HeatMap& map) {
  Cells cells;
  cells.left = 10.0 + kCharacter * static_cast<double>(longest(map.rows, kMostRowName));
  const double name = kCharacter * static_cast<double>(longest(map.columns, kMostColumnName));
  cells.top = 40.0 + kRise * name;
  cells.names = kRun * name;
  if (map.rows.size() > kMostRows) cells.height = 4.0;
  return cells;
}

double value_at(const HeatMap& map, std::size_t row, std::size_t column) {
  if (row >= map.values.size() || column >= map.values[row].size()) return std::nan("");
  return map.values[row][column];
}

std::size_t level_of(const HeatMap& map, double value) {
  const double reach = map.reach > 0.0 ? map.reach : 1.0;
  const double share = std::clamp((value - map.middle) / reach, -1.0, 1.0);
  return static_cast<std::size_t>(std::lround((share + 1.0) / 2.0 * (kLevels.size() - 1.0)));
}

/// Level of a value; the extra level for none.
std::size_t level_at(const HeatMap& map, std::size_t row, std::size_t column) {
  const double value = value_at(map, row, column);
  return std::isfinite(value) ? level_of(map, value) : kLevels.size();
}

/// One path a colour, neighbours of one colour together: twenty thousand cells in a third of a
/// megabyte at most.
std::string paths_of(const HeatMap& map, const Cells& cells) {
  std::array<std::string, kLevels.size() + 1> paths;
  for (std::size_t row = 0; row < map.rows.size(); ++row)
    for (std::size_t column = 0, end = 0; column < map.columns.size(); column = end) {
      const std::size_t level = level_at(map, row, column);
      for (end = column + 1; end < map.columns.size() && level_at(map, row, end) == level;) ++end;
      const double width = cells.width * static_cast<double>(end - column);
      paths[level] += fmt::format("M{:g} {:g}h{:g}v{:g}h-{:g}z", cells.left + cells.width * column,
                                  cells.top + cells.height * row, width, cells.height, width);
    }
  paths.back().clear();  // cells without a value are not drawn
  std::string text;
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    if (!paths[i].empty())
      text += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", kLevels[i], paths[i]);
  return text;
}

std::string titles_of(const HeatMap& map, const Cells& cells) {
  if (map.rows.size() * map.columns.size() > kMostTitledCells) return "";
  std::string text;
  for (std::size_t row = 0; row < map.rows.size(); ++row)
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const double value = value_at(map, row, column);
      text += fmt::format(
          "<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" "
          "fill-opacity=\"0\"><title>{}, "
          "{}: {}</title></rect>\n",
          cells.left + cells.width * column, cells.top + cells.height * row, cells.width,
          cells.height, escaped(map.rows[row]), escaped(map.columns[column]),
          std::isfinite(value) ? fmt::format("{:.4g}", value) : "no value");
    }
  return text;
}

std::string names_of(const HeatMap& map, const Cells& cells) {
  std::string text;
  const std::size_t stride = cells.height < 10.0 ? 4 : 1;
  for (std::size_t row = 0; row < map.rows.size(); row += stride)
    text += svg_text({cells.left - 5.0, cells.top + cells.height * (row + 0.5) + 4.0}, "end",
                     shortened(map.rows[row], kMostRowName));
  for (std::size_t column = 0; column < map.columns.size(); ++column)
    text += svg_text({cells.left + cells.width * (column + 0.5) + 4.0, cells.top - 6.0}, "start",
                     shortened(map.columns[column], kMostColumnName), kSlope);
  return text;
}

std::string scale_of(const HeatMap& map, SvgPlace at) {
  std::string text;
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    text +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"18\" height=\"12\" fill=\"{}\"/>\n",
                    at.x + 18.0 * i, at.y, kLevels[i]);
  const double width = 18.0 * kLevels.size();
  text += svg_text({at.x, at.y + 26.0}, "start", fmt::format("{:.3g}", map.middle - map.reach));
  text += svg_text({at.x + width / 2.0, at.y + 26.0}, "middle", fmt::format("{:.3g}", map.middle));
  return text + svg_text({at.x + width, at.y + 26.0}, "end",
                         fmt::format("{:.3g}", map.middle + map.reach));
}

}  // namespace

std::string to_svg(const HeatMap& map) {
  const Cells cells = cells_of(map);
  const double right = cells.left + cells.width * static_cast<double>(map.columns.size());
  const double bottom = cells.top + cells.height * static_cast<double>(map.rows.size());
  // Background, visible where a cell has no value.
  const std::string none = fmt::format(
      "<rect class=\"none\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "fill=\"#bbbbbb\"/>\n",
      cells.left, cells.top, right - cells.left, bottom - cells.top);
  return svg_frame(std::max(right + 24.0 + cells.names, cells.left + 190.0), bottom + 52.0,
                   map.title,
                   svg_text({8.0, 18.0}, "start", map.title) + none + paths_of(map, cells) +
                       names_of(map, cells) + titles_of(map, cells) +
                       scale_of(map, {cells.left, bottom + 12.0}));
}

}  // namespace bench
