#include "tokenizer/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace bench::tokenizer {
namespace {

/// Bytes of the valid character at `at`; 0 if there is none.
std::size_t character(const unsigned char* at, std::size_t left) {
  const unsigned first = at[0];
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (left < size) return 0;
  // Only the second byte has narrower bounds than those of all continuations.
  const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (at[1] < low || at[1] > high) return 0;
  for (std::size_t i = 2; i < size; ++i)
    if ((at[i] & 0xc0) != 0x80) return 0;
  return size;
}

}  // namespace

std::size_t valid_utf8(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t eight;
    if (at + sizeof(eight) <= text.size()) {
      std::memcpy(&eight, bytes + at, sizeof(eight));
      if ((eight & 0x8080808080808080u) == 0) {
        at += sizeof(eight);
        continue;
      }
    }
    const std::size_t size = character(bytes + at, text.size() - at);
    if (size == 0) return at;
    at += size;
  }
  return at;
}

std::size_t invalid_utf8(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t at = 0;
  while (at < text.size() && character(bytes + at, text.size() - at) == 0) ++at;
  return at;
}

std::size_t cut_of_utf8(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  for (std::size_t back = 0; back < std::min<std::size_t>(most, 4); ++back)
    if ((static_cast<unsigned char>(text[most - back]) & 0xc0) != 0x80) return most - back;
  return most;
}

}  // namespace bench::tokenizer
