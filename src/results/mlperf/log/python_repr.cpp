// Python's repr() of values.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/text.h"
#include "results/mlperf/log/python_value.h"

namespace bench::mlperf {
namespace {

/// The shortest round-trip digits of a float: 0.d1d2... times ten to the power `point`.
struct ShortestFloat {
  std::string digits = {};
  int point = 0;
};

ShortestFloat shortest(double magnitude) {
  char text[40];
  const auto end =
      std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific).ptr;
  const std::string_view written(text, static_cast<std::size_t>(end - text));
  const auto exponent = written.find('e');
  ShortestFloat result;
  for (const char c : written.substr(0, exponent))
    if (c != '.') result.digits += c;
  const std::string_view power = written.substr(exponent + 1);
  std::from_chars(power.data() + (power[0] == '+' ? 1 : 0), power.data() + power.size(),
                  result.point);
  ++result.point;
  return result;
}

std::string with_exponent(const ShortestFloat& number) {
  const int exponent = number.point - 1;
  std::string text = number.digits.substr(0, 1);
  if (number.digits.size() > 1) text += '.' + number.digits.substr(1);
  const std::string power = std::to_string(std::abs(exponent));
  return text + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
}

/// Python uses exponents below 1e-4 and from 1e16.
std::string repr_of(double value) {
  if (std::isnan(value)) return "nan";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "inf";
  ShortestFloat number = shortest(std::abs(value));
  if (value == 0.0) return sign + "0.0";
  if (number.point <= -4 || number.point > 16) return sign + with_exponent(number);
  if (number.point <= 0)
    return sign + "0." + std::string(static_cast<std::size_t>(-number.point), '0') + number.digits;
  const auto whole = static_cast<std::size_t>(number.point);
  if (number.digits.size() <= whole)
    return sign + number.digits + std::string(whole - number.digits.size(), '0') + ".0";
  return sign + number.digits.substr(0, whole) + '.' + number.digits.substr(whole);
}

void add_character(std::string& text, char c, char quote) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == quote || c == '\\')
    text += {'\\', c};
  else if (c == '\n')
    text += "\\n";
  else if (c == '\r')
    text += "\\r";
  else if (c == '\t')
    text += "\\t";
  else if (byte < 0x20 || byte == 0x7f)
    text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
  else
    text += c;
}

void add_repr(std::string& text, std::string_view value) {
  const bool double_quotes = value.find('\'') != value.npos && value.find('"') == value.npos;
  const char quote = double_quotes ? '"' : '\'';
  text += quote;
  for (const char c : value) add_character(text, c, quote);
  text += quote;
}

void add_repr(std::string& text, const PythonValue& value) {
  std::string_view separator;
  if (value.is_none()) {
    text += "None";
  } else if (value.is_bool()) {
    text += value.truth() ? "True" : "False";
  } else if (const auto* big = value.big_integer()) {
    text += big->digits;
  } else if (value.is_int()) {
    text += std::to_string(*value.integer());
  } else if (value.is_float()) {
    text += repr_of(value.number());
  } else if (value.is_string()) {
    add_repr(text, value.text());
  } else if (value.is_list()) {
    text += '[';
    for (const PythonValue& member : value.list()) {
      text += std::exchange(separator, ", ");
      add_repr(text, member);
    }
    text += ']';
  } else {
    text += '{';
    for (const auto& [key, member] : value.dict()) {
      text += std::exchange(separator, ", ");
      add_repr(text, std::string_view(key));
      text += ": ";
      add_repr(text, member);
    }
    text += '}';
  }
}

}  // namespace

std::string PythonValue::repr() const {
  std::string text;
  add_repr(text, *this);
  return text;
}

std::string PythonValue::excerpt(std::size_t longest) const {
  // Avoids copying a huge string for an excerpt.
  const std::string safe =
      printable(is_string() ? PythonValue(text().substr(0, longest)).repr() : repr());
  if (safe.size() <= longest && text().size() <= longest) return safe;
  std::size_t end = std::min(longest, safe.size());
  while (end > 0 && (static_cast<unsigned char>(safe[end]) & 0xc0) == 0x80) --end;
  return safe.substr(0, end) + "...";
}

}  // namespace bench::mlperf
