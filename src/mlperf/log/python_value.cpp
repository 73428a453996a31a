#include "mlperf/log/python_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>
#include <cstdlib>
#include <limits>
#include <utility>

#include "core/text.h"
#include "mlperf/log/exact_integer.h"

namespace bench::mlperf {
namespace {

// Python's repr() of values.

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

namespace {

// Python's comparisons; an integer and a float are compared exactly.

ExactInteger exact(const PythonValue& whole) {
  const auto* big = whole.big_integer();
  return big != nullptr ? ExactInteger::of_digits(big->digits) : ExactInteger(*whole.integer());
}

std::partial_ordering compare_with_float(const PythonValue& whole, double b) {
  const auto small = whole.integer();
  return small ? compare_exactly(*small, b) : compare_exactly(exact(whole), b);
}

std::partial_ordering order_numbers(const PythonValue& a, const PythonValue& b) {
  if (a.is_float() && b.is_float()) return a.number() <=> b.number();
  if (b.is_float()) return compare_with_float(a, b.number());
  if (a.is_float()) return 0 <=> compare_with_float(b, a.number());
  const auto first = a.integer(), second = b.integer();
  return first && second ? *first <=> *second : exact(a) <=> exact(b);
}

bool is_nan(const PythonValue& value) { return value.is_float() && std::isnan(value.number()); }

using Member = PythonValue::Dict::value_type;

std::vector<const Member*> by_key(const PythonValue::Dict& dict) {
  std::vector<const Member*> members;
  for (const Member& member : dict) members.push_back(&member);
  std::ranges::sort(members, {},
                    [](const Member* member) { return std::string_view(member->first); });
  return members;
}

bool equal_dicts(const PythonValue::Dict& a, const PythonValue::Dict& b) {
  return a.size() == b.size() &&
         std::ranges::equal(by_key(a), by_key(b), [](const Member* one, const Member* other) {
           return one->first == other->first && same(one->second, other->second);
         });
}

std::optional<bool> ordered(const PythonValue& a, const PythonValue& b, bool or_equal) {
  const auto holds = [&](std::partial_ordering order) {
    return order < 0 || (or_equal && order == 0);
  };
  if (a.is_number() && b.is_number()) return holds(order_numbers(a, b));
  if (a.is_string() && b.is_string()) return holds(a.text() <=> b.text());
  if (!a.is_list() || !b.is_list()) return {};
  const std::size_t shared = std::min(a.list().size(), b.list().size());
  for (std::size_t i = 0; i < shared; ++i)
    if (!same(a.list()[i], b.list()[i])) return ordered(a.list()[i], b.list()[i], or_equal);
  return holds(a.list().size() <=> b.list().size());
}

}  // namespace

bool equal(const PythonValue& a, const PythonValue& b) {
  if (a.is_number() && b.is_number()) return order_numbers(a, b) == 0;
  if (a.is_string() && b.is_string()) return a.text() == b.text();
  if (a.is_list() && b.is_list()) return std::ranges::equal(a.list(), b.list(), same);
  if (a.is_dict() && b.is_dict()) return equal_dicts(a.dict(), b.dict());
  return a.is_none() && b.is_none();
}

bool same(const PythonValue& a, const PythonValue& b) {
  return equal(a, b) || (is_nan(a) && is_nan(b));
}

std::optional<bool> less(const PythonValue& a, const PythonValue& b) {
  return ordered(a, b, false);
}

std::optional<bool> less_equal(const PythonValue& a, const PythonValue& b) {
  return ordered(a, b, true);
}

namespace {

const char* name_of_not_finite(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0.0 ? "Infinity" : "-Infinity";
}

}  // namespace

double PythonValue::number() const {
  if (const auto* flag = std::get_if<bool>(&value_)) return *flag ? 1.0 : 0.0;
  if (const auto* small = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*small);
  if (const auto* real = std::get_if<double>(&value_)) return *real;
  if (const BigInteger* big = big_integer()) return std::strtod(big->digits.c_str(), nullptr);
  return std::numeric_limits<double>::quiet_NaN();
}

std::optional<std::int64_t> PythonValue::integer() const {
  if (const auto* flag = std::get_if<bool>(&value_)) return *flag ? 1 : 0;
  if (const auto* small = std::get_if<std::int64_t>(&value_)) return *small;
  return {};
}

std::string_view PythonValue::text() const {
  const auto* text = std::get_if<std::string>(&value_);
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

const PythonValue::List& PythonValue::list() const {
  static const List kEmpty;
  const auto* list = std::get_if<List>(&value_);
  return list != nullptr ? *list : kEmpty;
}

const PythonValue::Dict& PythonValue::dict() const {
  static const Dict kEmpty;
  const auto* dict = std::get_if<Dict>(&value_);
  return dict != nullptr ? *dict : kEmpty;
}

const PythonValue* PythonValue::find(std::string_view key) const {
  for (const auto& [name, value] : dict())
    if (name == key) return &value;
  return nullptr;
}

bool PythonValue::truth() const {
  if (is_string()) return !text().empty();
  if (is_list()) return !list().empty();
  if (is_dict()) return !dict().empty();
  return is_number() && number() != 0.0;  // NaN is true
}

std::string_view PythonValue::type_name() const {
  if (is_none()) return "NoneType";
  if (is_bool()) return "bool";
  if (is_int()) return "int";
  if (is_float()) return "float";
  if (is_string()) return "str";
  return is_list() ? "list" : "dict";
}

Json PythonValue::to_json() const {
  if (is_bool()) return std::get<bool>(value_);
  if (const BigInteger* big = big_integer()) return big->digits;
  if (is_int()) return std::get<std::int64_t>(value_);
  if (is_float()) {
    const double real = std::get<double>(value_);
    return std::isfinite(real) ? Json(real) : Json(name_of_not_finite(real));
  }
  if (is_string()) return std::string(text());
  Json result = nullptr;
  if (is_list()) {
    result = Json::array();
    for (const PythonValue& value : list()) result.push_back(value.to_json());
  } else if (is_dict()) {
    result = Json::object();
    for (const auto& [key, value] : dict()) result[key] = value.to_json();
  }
  return result;
}

}  // namespace bench::mlperf
