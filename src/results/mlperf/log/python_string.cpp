// JSON strings like Python's json: no control characters, \uXXXX with surrogate pairs.
#include <array>

#include "results/mlperf/log/python_json.h"

namespace bench::mlperf {
namespace {

/// Bytes that end a run of plain text: quote, backslash and control characters.
constexpr std::array<bool, 256> kSpecial = [] {
  std::array<bool, 256> special{};
  for (std::size_t byte = 0; byte < 0x20; ++byte) special[byte] = true;
  special['"'] = special['\\'] = true;
  return special;
}();

bool is_high_surrogate(unsigned code) { return code >= 0xd800 && code < 0xdc00; }
bool is_low_surrogate(unsigned code) { return code >= 0xdc00 && code < 0xe000; }

void add_utf8(std::string& text, unsigned code) {
  const auto add = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The character for the escape \c; 0 if invalid.
char meaning_of_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

}  // namespace

bool PythonJsonReader::read_four_hex(std::size_t begin, unsigned& code) const {
  if (begin + 4 > text_.size()) return false;
  code = 0;
  for (std::size_t i = begin; i < begin + 4; ++i) {
    const int digit = hex_value(text_[i]);
    if (digit < 0) return false;
    code = code << 4 | static_cast<unsigned>(digit);
  }
  return true;
}

/// After the backslash.
bool PythonJsonReader::read_escape(std::string* value) {
  const char kind = peek();
  if (kind != 'u') {
    const char meaning = meaning_of_escape(kind);
    if (meaning == '\0') return fail("invalid escape sequence in a string");
    ++at_;
    if (value != nullptr) *value += meaning;
    return true;
  }
  unsigned code = 0;
  if (!read_four_hex(at_ + 1, code)) return fail("\\u must be followed by four hexadecimal digits");
  at_ += 5;
  unsigned low = 0;
  if (is_high_surrogate(code) && peek() == '\\' && peek(1) == 'u' && read_four_hex(at_ + 2, low) &&
      is_low_surrogate(low)) {
    code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
    at_ += 6;
  }
  if (value != nullptr) add_utf8(*value, code);
  return true;
}

bool PythonJsonReader::read_string(std::string* value) {
  ++at_;
  for (;;) {
    const std::size_t run = at_;
    while (at_ < text_.size() && !kSpecial[static_cast<unsigned char>(text_[at_])]) ++at_;
    if (value != nullptr) value->append(from(run));
    if (at_end()) return fail("unterminated string");
    if (text_[at_] == '"') break;
    if (text_[at_] != '\\') return fail("control character in a string");
    ++at_;
    if (!read_escape(value)) return false;
  }
  ++at_;
  return true;
}

}  // namespace bench::mlperf
