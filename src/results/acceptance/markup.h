// Text as it may stand in XML and HTML.
#pragma once

#include <string>
#include <string_view>

#include "core/text.h"

namespace bench {

/// Control bytes become "\xNN": XML has no way to write them.
inline std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  return safe;
}

}  // namespace bench
