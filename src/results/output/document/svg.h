// SVG building blocks. Colours are attributes for standalone files, and classes that the page style
// overrides: s0..s7 for series, ink, grid, rule.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Axis of a plot: its range, the position of a value, and the tick values.

struct Axis {
  bool log = false;
  double low = 0.0, high = 1.0;  // values at its ends
  double from = 0.0, to = 1.0;   // where its ends lie, in the drawing's unit
  /// Whether a value can be shown: finite, and positive on a logarithmic axis.
  bool shows(double value) const;
  /// Values beyond an end are clamped to it.
  double at(double value) const;
  std::vector<double> ticks() const;
};

/// Covers all drawable values with a margin; starts at 0 if the smallest is below half of the
/// largest. Without values [0, 1], or [1, 10] if logarithmic.
Axis make_axis(const std::vector<double>& values, bool log, double from, double to);

/// A number with at most three digits and a prefix: "1.2T", "250", "30m", "1e-15".
std::string tick_label(double value);

/// Told apart by people who confuse red and green (Okabe and Ito 2008).
inline constexpr std::array<const char*, 8> kSeriesColours = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f6f00", "#555555"};

struct SvgPlace {
  double x = 0.0, y = 0.0;
};

/// `anchor`: start, middle or end; `degrees`: turned to the right, so -90 is read from below.
std::string svg_text(SvgPlace at, std::string_view anchor, std::string_view text, int degrees = 0);
/// `look`: classes and colours, such as kGridLook.
std::string svg_line(SvgPlace from, SvgPlace to, std::string_view look);
/// The element around it all.
std::string svg_frame(double width, double height, std::string_view title, std::string_view inside);

inline constexpr std::string_view kGridLook = "class=\"grid\" stroke=\"#dddddd\"";
inline constexpr std::string_view kInkLook = "class=\"ink\" stroke=\"#111111\"";
inline constexpr std::string_view kRuleLook =
    "class=\"rule\" stroke=\"#b00020\" stroke-dasharray=\"6 4\"";

/// At most `most` bytes, cut between characters, with an ellipsis if shortened.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace bench
