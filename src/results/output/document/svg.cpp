#include "results/output/document/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "results/output/document/markup.h"

namespace bench {
namespace {

constexpr double kMargin = 0.04;
constexpr double kLargest = 1e250;  // ratios and differences with a margin stay finite
constexpr double kMostTicks = 6.0;

/// The least of 1, 2, 5 times a power of ten that is not below `step`.
double round_step(double step) {
  const double decade = std::pow(10.0, std::floor(std::log10(step)));
  for (const double digit : {1.0, 2.0, 5.0})
    if (digit * decade >= step * (1.0 - 1e-9)) return digit * decade;
  return 10.0 * decade;
}

std::vector<double> linear_ticks(double low, double high) {
  std::vector<double> ticks;
  const double step = round_step((high - low) / kMostTicks);
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i <= 12; ++i) {
    const double tick = (first + i) * step;
    if (tick > high * (1.0 + 1e-12) && tick > high) break;
    ticks.push_back(std::abs(tick) < step * 1e-6 ? 0.0 : tick);
  }
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  const double decades = std::log10(high) - std::log10(low);
  if (decades < 0.7) return linear_ticks(low, high);
  std::vector<double> ticks;
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / 8.0)));
  const int first = static_cast<int>(std::floor(std::log10(low) / stride)) * stride;
  for (int decade = first; std::pow(10.0, decade) <= high; decade += stride)
    for (const double digit : {1.0, 2.0, 5.0}) {
      if (decades > 3.0 && digit > 1.0) break;
      const double tick = digit * std::pow(10.0, decade);
      if (tick >= low && tick <= high) ticks.push_back(tick);
    }
  return ticks;
}

void widen(Axis& axis) {
  if (axis.log) {
    const double span = std::log(axis.high) - std::log(axis.low);
    const double factor = std::max(std::exp(kMargin * span), 1.05);
    axis.low /= factor, axis.high *= factor;
    return;
  }
  const double span = axis.high - axis.low;
  // A flat line is not noise: it gets room of 5 % of itself.
  const double margin = span > 0.0 ? kMargin * span : std::max(0.05 * std::abs(axis.high), 1e-12);
  const bool to_zero = axis.low >= 0.0 && axis.low < 0.5 * axis.high;
  axis.low = to_zero ? 0.0 : axis.low - margin;
  axis.high += margin;
}

}  // namespace

bool Axis::shows(double value) const {
  return std::isfinite(value) && std::abs(value) <= kLargest && (!log || value >= 1.0 / kLargest);
}

double Axis::at(double value) const {
  const double share = log ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low))
                           : (value - low) / (high - low);
  return from + std::clamp(share, 0.0, 1.0) * (to - from);
}

std::vector<double> Axis::ticks() const {
  return log ? log_ticks(low, high) : linear_ticks(low, high);
}

Axis make_axis(const std::vector<double>& values, bool log, double from, double to) {
  Axis axis{log, HUGE_VAL, -HUGE_VAL, from, to};
  for (const double value : values)
    if (axis.shows(value)) {
      axis.low = std::min(axis.low, value);
      axis.high = std::max(axis.high, value);
    }
  if (axis.low > axis.high) return {log, log ? 1.0 : 0.0, log ? 10.0 : 1.0, from, to};
  widen(axis);
  return axis;
}

std::string tick_label(double value) {
  constexpr std::array<const char*, 10> kPrefixes = {"p", "n", "\u00b5", "m", "",
                                                     "k", "M", "G",      "T", "P"};
  const double size = std::abs(value);
  if (size == 0.0) return "0";
  const int power = static_cast<int>(std::floor(std::log10(size) / 3.0 + 1e-9));
  if (!(power >= -4 && power <= 5)) return fmt::format("{:.3g}", value);
  // 0.05 and 1000 are read more easily than 50m and 1k.
  if (size >= 0.001 && size < 1e4) return fmt::format("{:.4g}", value);
  return fmt::format("{:.4g}{}", value / std::pow(1000.0, power),
                     kPrefixes[static_cast<std::size_t>(power + 4)]);
}

std::string svg_text(SvgPlace at, std::string_view anchor, std::string_view text, int degrees) {
  return fmt::format(
      "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"{2}\"{3}>{4}</text>\n", at.x, at.y, anchor,
      degrees != 0 ? fmt::format(" transform=\"rotate({} {:.1f} {:.1f})\"", degrees, at.x, at.y)
                   : "",
      escaped(text));
}

std::string svg_line(SvgPlace from, SvgPlace to, std::string_view look) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", from.x,
                     from.y, to.x, to.y, look);
}

std::string svg_frame(double width, double height, std::string_view title,
                      std::string_view inside) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" width=\"{0:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" font-family=\"system-ui,sans-serif\" "
      "font-size=\"12\" fill=\"#111111\">"
      "<title>{2}</title>\n{3}</svg>\n",
      width, height, escaped(title), inside);
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "\u2026";
}

}  // namespace bench
