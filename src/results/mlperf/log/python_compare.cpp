// Python's comparisons; an integer and a float are compared exactly.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>

#include "results/mlperf/log/python_value.h"

namespace bench::mlperf {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

/// An integer of more than 64 bits.
struct Decimal {
  bool negative = false;
  std::string digits = {};
};

Decimal decimal(std::string text) {
  const bool negative = text.starts_with('-');
  return {negative, negative ? text.substr(1) : std::move(text)};
}

/// For a float large enough to be an integer.
Decimal decimal(double whole) {
  char text[320];
  const auto end = std::to_chars(text, text + sizeof text, whole, std::chars_format::fixed).ptr;
  return decimal(std::string(text, end));
}

std::partial_ordering order(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative)
    return a.negative ? std::partial_ordering::less : std::partial_ordering::greater;
  const auto sizes = a.digits.size() <=> b.digits.size();
  const auto magnitudes = sizes != 0 ? sizes : a.digits <=> b.digits;
  return a.negative ? 0 <=> magnitudes : magnitudes;
}

std::partial_ordering order(std::int64_t a, double b) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= kTwoTo63) return std::partial_ordering::less;
  if (b < -kTwoTo63) return std::partial_ordering::greater;
  const auto whole = static_cast<std::int64_t>(b);
  return a != whole ? a <=> whole : 0.0 <=> b - static_cast<double>(whole);
}

std::partial_ordering reversed(std::partial_ordering order) { return 0 <=> order; }

/// Compares a big integer with any number.
std::partial_ordering order(const PythonValue::BigInteger& a, const PythonValue& b) {
  const Decimal big = decimal(a.digits);
  if (const auto* other = b.big_integer()) return order(big, decimal(other->digits));
  const double real = b.number();
  if (std::isnan(real)) return std::partial_ordering::unordered;
  if (std::isfinite(real) && std::abs(real) >= kTwoTo63 && b.is_float())
    return order(big, decimal(real));
  const bool below =
      std::isinf(real) ? real > 0.0 : big.negative;  // all others are smaller in magnitude
  return below ? std::partial_ordering::less : std::partial_ordering::greater;
}

std::partial_ordering order_numbers(const PythonValue& a, const PythonValue& b) {
  if (const auto* big = a.big_integer()) return order(*big, b);
  if (const auto* big = b.big_integer()) return reversed(order(*big, a));
  const auto first = a.integer();
  const auto second = b.integer();
  if (first && second) return *first <=> *second;
  if (first) return order(*first, b.number());
  if (second) return reversed(order(*second, a.number()));
  return a.number() <=> b.number();
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

}  // namespace bench::mlperf
