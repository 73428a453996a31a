// Escaping for XML and HTML, and the skeleton of a page.
#pragma once

#include <string>
#include <string_view>

#include "core/text.h"

namespace bench {

/// The entity of a markup character; "" for others.
inline std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return "";
  }
}

/// Control bytes become "\xNN", as XML cannot represent them.
inline std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    const std::string_view entity = entity_of(c);
    if (entity.empty())
      safe += c;
    else
      safe += entity;
  }
  return safe;
}

/// A self-contained page without scripts. `title` is text, `style` is CSS,
/// `body` is markup.
inline std::string html_page(std::string_view title, std::string_view style,
                             std::string_view body) {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>";
  page += escaped(title);
  page += "</title><meta name=\"viewport\" content=\"width=device-width\"><style>";
  page += style;
  page += "</style></head>\n<body>\n";
  page += body;
  return page + "</body></html>\n";
}

}  // namespace bench
