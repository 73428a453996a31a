// A fixed table between an enum and the words that stand for it in JSON. Used by every enum on the
// wire.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace bench {

template <class Enum, std::size_t N>
struct NameTable {
  std::array<std::pair<Enum, std::string_view>, N> entries;

  constexpr std::string_view name(Enum value) const {
    for (const auto& [entry, word] : entries)
      if (entry == value) return word;
    return "?";
  }

  /// Throws Error(input) naming what kind of word was expected and the words that are allowed.
  Enum value(std::string_view word, std::string_view what) const {
    std::string allowed;
    for (const auto& [entry, known] : entries) {
      if (known == word) return entry;
      allowed += (allowed.empty() ? "" : ", ") + std::string(known);
    }
    throw Error(ErrorKind::input, "'" + std::string(word) + "' is no " + std::string(what),
                "use one of: " + allowed);
  }
};

}  // namespace bench
