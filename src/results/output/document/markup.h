// Escaping for XML and HTML.
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

}  // namespace bench
