#include "mlperf/log/python_json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "core/text.h"

namespace bench::mlperf {
namespace {

// JSON strings like Python's json: no control characters, \uXXXX with surrogate pairs.

bool is_special(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

static_assert(std::endian::native == std::endian::little);

/// The end of a run of plain text: the first quote, backslash or control character, or the end.
/// Eight bytes at a time; the lowest high bit that is set belongs to the first special byte
/// (Hacker's Delight, 6-1).
std::size_t end_of_plain(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kEach = 0x0101010101010101, kHigh = kEach << 7;
  const auto below = [](std::uint64_t bytes, std::uint64_t limit) {
    return (bytes - kEach * limit) & ~bytes & kHigh;
  };
  for (std::uint64_t bytes; at + sizeof bytes <= text.size(); at += sizeof bytes) {
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    const std::uint64_t special =
        below(bytes, 0x20) | below(bytes ^ kEach * '"', 1) | below(bytes ^ kEach * '\\', 1);
    if (special != 0) return at + static_cast<std::size_t>(std::countr_zero(special)) / 8;
  }
  while (at < text.size() && !is_special(text[at])) ++at;
  return at;
}

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

std::optional<unsigned> PythonJsonReader::four_hex(std::size_t begin) const {
  if (begin + 4 > text_.size()) return {};
  return parse_as<unsigned>(text_.substr(begin, 4), 16);
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
  std::optional<unsigned> code = four_hex(at_ + 1);
  if (!code) return fail("\\u must be followed by four hexadecimal digits");
  at_ += 5;
  if (is_high_surrogate(*code) && peek() == '\\' && peek(1) == 'u')
    if (const auto low = four_hex(at_ + 2); low && is_low_surrogate(*low)) {
      code = 0x10000 + ((*code - 0xd800) << 10 | (*low - 0xdc00));
      at_ += 6;
    }
  if (value != nullptr) add_utf8(*value, *code);
  return true;
}

bool PythonJsonReader::read_string(std::string* value) {
  ++at_;
  for (;;) {
    const std::size_t run = std::exchange(at_, end_of_plain(text_, at_));
    if (value != nullptr) value->append(from(run));
    if (at_end()) return fail("unterminated string");
    if (byte(at_) == '"') break;
    if (byte(at_) != '\\') return fail("control character in a string");
    ++at_;
    if (!read_escape(value)) return false;
  }
  ++at_;
  return true;
}

bool PythonJsonReader::read_text(std::string_view& text, std::string& escaped) {
  const std::size_t begin = at_ + 1, end = end_of_plain(text_, begin);
  if (end < text_.size() && byte(end) == '"') {
    text = text_.substr(begin, end - begin);
    at_ = end + 1;
    return true;
  }
  escaped.clear();
  if (!read_string(&escaped)) return false;
  text = escaped;
  return true;
}

// JSON numbers like Python's json: integers of any size, correctly rounded floats.

double rounded_decimal(std::string_view text) {
  double value = 0.0;
  const auto error = std::from_chars(text.data(), text.data() + text.size(), value).ec;
  if (error != std::errc::result_out_of_range) return value;
  return std::strtod(std::string(text).c_str(), nullptr);  // overflow to infinity, or underflow
}

std::size_t PythonJsonReader::digits_from(std::size_t begin) const {
  std::size_t end = begin;
  while (end < text_.size() && is_digit(byte(end))) ++end;
  return end - begin;
}

bool PythonJsonReader::read_number(PythonValue* value) {
  const std::size_t begin = at_;
  std::size_t end = at_ + (peek() == '-' ? 1 : 0);
  std::size_t digits = digits_from(end);
  if (digits == 0) return fail("expected a value");
  if (byte(end) == '0') digits = 1;
  end += digits;
  bool whole = true;
  if (end < text_.size() && byte(end) == '.')
    if (const std::size_t fraction = digits_from(end + 1); fraction > 0) {
      end += 1 + fraction;
      whole = false;
    }
  if (end < text_.size() && (byte(end) == 'e' || byte(end) == 'E')) {
    std::size_t power = end + 1;
    if (power < text_.size() && (byte(power) == '+' || byte(power) == '-')) ++power;
    if (const std::size_t count = digits_from(power); count > 0) {
      end = power + count;
      whole = false;
    }
  }
  if (whole && digits > kMostDigits) return fail("an integer of more than 4300 digits");
  at_ = end;
  if (value == nullptr) return true;
  const std::string_view number = from(begin);
  std::int64_t small = 0;
  if (!whole)
    *value = PythonValue(rounded_decimal(number));
  else if (std::from_chars(number.data(), number.data() + number.size(), small).ec == std::errc())
    *value = PythonValue(small);
  else
    *value = PythonValue(PythonValue::BigInteger{std::string(number)});
  return true;
}

namespace {

constexpr std::size_t kFewMembers = 16;

/// A duplicate key keeps the first position and the last value.
void keep_last(PythonValue::Dict& dict) {
  std::vector<std::size_t> order(dict.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return std::string_view(dict[i].first); });
  std::vector<bool> dropped(dict.size(), false);
  for (std::size_t i = order.size(); i-- > 1;) {
    if (dict[order[i]].first != dict[order[i - 1]].first) continue;
    dict[order[i - 1]].second = std::move(dict[order[i]].second);
    dropped[order[i]] = true;
  }
  std::size_t index = 0;
  std::erase_if(dict, [&](const auto&) { return dropped[index++]; });
}

void add_member(PythonValue::Dict& dict, std::string key, PythonValue value) {
  if (dict.size() < kFewMembers)  // larger ones are deduplicated at the end
    for (auto& [name, present] : dict)
      if (name == key) {
        present = std::move(value);
        return;
      }
  dict.emplace_back(std::move(key), std::move(value));
}

}  // namespace

bool PythonJsonReader::fail(const char* why) {
  error_ = why;
  return false;
}

bool PythonJsonReader::enter() {
  too_deep_ = ++depth_ > kMostNested;
  return !too_deep_ || fail("nested too deeply for Python");
}

bool PythonJsonReader::read(PythonValue* value) {
  switch (peek()) {
    case '"': {
      if (value == nullptr) return read_string(nullptr);
      std::string_view text;
      std::string escaped;
      if (!read_text(text, escaped)) return false;
      *value = PythonValue(text);
      return true;
    }
    case '{':
      return read_dict(value);
    case '[':
      return read_list(value);
    case 'n':
      return read_literal("null", value, PythonValue());
    case 't':
      return read_literal("true", value, PythonValue(true));
    case 'f':
      return read_literal("false", value, PythonValue(false));
    case 'N':
      return read_literal("NaN", value, PythonValue(std::numeric_limits<double>::quiet_NaN()));
    case 'I':
      return read_literal("Infinity", value, PythonValue(std::numeric_limits<double>::infinity()));
    case '-':
      if (peek(1) == 'I')
        return read_literal("-Infinity", value,
                            PythonValue(-std::numeric_limits<double>::infinity()));
      break;
    default:
      break;
  }
  return read_number(value);
}

bool PythonJsonReader::read_literal(std::string_view name, PythonValue* value,
                                    PythonValue&& meaning) {
  if (!text_.substr(at_).starts_with(name)) return fail("expected a value");
  at_ += name.size();
  if (value != nullptr) *value = std::move(meaning);
  return true;
}

bool PythonJsonReader::read_list(PythonValue* value) {
  if (!enter()) return false;
  ++at_;
  PythonValue::List list;
  if (!take(']')) {
    do {
      skip_space();
      PythonValue member;
      if (!read(value != nullptr ? &member : nullptr)) return false;
      if (value != nullptr) list.push_back(std::move(member));
    } while (take(','));
    if (!take(']')) return fail("expected ',' or ']'");
  }
  --depth_;
  if (value != nullptr) *value = PythonValue(std::move(list));
  return true;
}

bool PythonJsonReader::read_member(PythonValue::Dict* dict) {
  skip_space();
  if (peek() != '"') return fail("expected a key in double quotes");
  std::string key;
  PythonValue member;
  if (!read_string(dict != nullptr ? &key : nullptr)) return false;
  if (!take(':')) return fail("expected ':'");
  skip_space();
  if (!read(dict != nullptr ? &member : nullptr)) return false;
  if (dict != nullptr) add_member(*dict, std::move(key), std::move(member));
  return true;
}

bool PythonJsonReader::read_dict(PythonValue* value) {
  if (!enter()) return false;
  ++at_;
  PythonValue::Dict dict;
  constexpr std::size_t kUsual = 4;  // members of a line's metadata
  if (value != nullptr) dict.reserve(kUsual);
  if (!take('}')) {
    do {
      if (!read_member(value != nullptr ? &dict : nullptr)) return false;
    } while (take(','));
    if (!take('}')) return fail("expected ',' or '}'");
  }
  --depth_;
  if (value == nullptr) return true;
  if (dict.size() >= kFewMembers) keep_last(dict);
  *value = PythonValue(std::move(dict));
  return true;
}

}  // namespace bench::mlperf
