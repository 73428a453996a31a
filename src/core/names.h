// A fixed table between an enum and its names in JSON.
#pragma once

#include <array>
#include <optional>
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

  constexpr std::optional<Enum> find(std::string_view word) const {
    for (const auto& [entry, known] : entries)
      if (known == word) return entry;
    return {};
  }

  /// Throws Error(input) with the kind of name and the allowed names.
  Enum value(std::string_view word, std::string_view what) const {
    if (const auto found = find(word)) return *found;
    std::string allowed;
    for (const auto& [entry, known] : entries)
      allowed += (allowed.empty() ? "" : ", ") + std::string(known);
    throw Error(ErrorKind::input, "unknown " + std::string(what) + " '" + std::string(word) + "'",
                "use one of: " + allowed);
  }
};

}  // namespace bench
