// How often a piece of text occurs in another.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

inline std::size_t occurrences(const std::string& text, const std::string& piece) {
  std::size_t found = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1))
    ++found;
  return found;
}

}  // namespace bench
