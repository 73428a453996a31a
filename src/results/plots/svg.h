// SVG building blocks. Colours are attributes for standalone files, and classes that the page style
// overrides: s0..s7 for series, ink, grid, rule.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace bench {

/// Told apart by people who confuse red and green (Okabe and Ito 2008).
inline constexpr std::array<const char*, 8> kSeriesColours = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f6f00", "#555555"};

struct SvgPlace {
  double x = 0.0, y = 0.0;
};

/// `anchor`: start, middle or end; `turned`: read from below.
std::string svg_text(SvgPlace at, std::string_view anchor, std::string_view text,
                     bool turned = false);
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
