#include "results/plots/svg.h"

#include <fmt/format.h>

#include "results/acceptance/markup.h"

namespace bench {

std::string svg_text(SvgPlace at, std::string_view anchor, std::string_view text, bool turned) {
  return fmt::format(
      "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"{2}\"{3}>{4}</text>\n", at.x, at.y, anchor,
      turned ? fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", at.x, at.y) : "",
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
