#include "tokenizer/byte_alphabet.h"

#include <array>

namespace bench::tokenizer {
namespace {

constexpr unsigned kFirstStandIn = 0x100;
constexpr unsigned kStandIns = 68;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct Alphabet {
  std::array<unsigned, 256> of_byte = {};                        // code points
  std::array<int, kFirstStandIn + kStandIns> of_character = {};  // bytes; -1: none

  constexpr Alphabet() {
    of_character.fill(-1);
    unsigned next = kFirstStandIn;
    for (unsigned byte = 0; byte < 256; ++byte) {
      of_byte[byte] = stands_for_itself(byte) ? byte : next++;
      of_character[of_byte[byte]] = static_cast<int>(byte);
    }
  }
};

constexpr Alphabet kAlphabet;

}  // namespace

std::string to_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const unsigned point = kAlphabet.of_byte[static_cast<unsigned char>(c)];
    if (point < 0x80) {
      text += static_cast<char>(point);
    } else {
      text += static_cast<char>(0xc0 | point >> 6);
      text += static_cast<char>(0x80 | (point & 0x3f));
    }
  }
  return text;
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned point = static_cast<unsigned char>(text[i]);
    if (point >= 0x80) {
      if ((point & 0xe0) != 0xc0 || i + 1 == text.size()) return {};
      const unsigned next = static_cast<unsigned char>(text[++i]);
      if ((next & 0xc0) != 0x80) return {};
      point = (point & 0x1f) << 6 | (next & 0x3f);
      if (point < 0x80) return {};
    }
    if (point >= kAlphabet.of_character.size() || kAlphabet.of_character[point] < 0) return {};
    bytes += static_cast<char>(kAlphabet.of_character[point]);
  }
  return bytes;
}

}  // namespace bench::tokenizer
