// What Python's json.loads makes of a text, compared as Python compares: the official tools judge
// logs by it (True == 1 == 1.0, integers of any size, NaN unlike itself).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/json.h"

namespace bench::mlperf {

class PythonValue {
 public:
  using List = std::vector<PythonValue>;
  /// Each key once, where it first came; the last value given for it.
  using Dict = std::vector<std::pair<std::string, PythonValue>>;
  /// An integer that 64 bits cannot hold: decimal digits, maybe behind a '-'.
  struct BigInteger {
    std::string digits;
  };

  PythonValue() = default;  // None
  /// A bool, or an int of any type. (A parameter of type bool would take pointers as well.)
  template <std::integral T>
  explicit PythonValue(T value) {
    if constexpr (std::same_as<T, bool>)
      value_.emplace<bool>(value);
    else
      value_.emplace<std::int64_t>(static_cast<std::int64_t>(value));
  }
  explicit PythonValue(double value) : value_(value) {}
  explicit PythonValue(BigInteger value) : value_(std::move(value)) {}
  explicit PythonValue(std::string value) : value_(std::move(value)) {}
  explicit PythonValue(std::string_view value) : value_(std::string(value)) {}
  explicit PythonValue(const char* value) : value_(std::string(value)) {}
  explicit PythonValue(List value) : value_(std::move(value)) {}
  explicit PythonValue(Dict value) : value_(std::move(value)) {}

  bool is_none() const { return holds<std::monostate>(); }
  bool is_bool() const { return holds<bool>(); }
  bool is_int() const { return holds<std::int64_t>() || holds<BigInteger>(); }  // bool is not
  bool is_float() const { return holds<double>(); }
  bool is_string() const { return holds<std::string>(); }
  bool is_list() const { return holds<List>(); }
  bool is_dict() const { return holds<Dict>(); }
  bool is_number() const { return is_bool() || is_int() || is_float(); }

  /// Of a bool, int or float; a big integer is rounded, past the range of f64 to an infinity. NaN
  /// where it is no number.
  double number() const;
  /// Of a bool or an int that 64 bits hold.
  std::optional<std::int64_t> integer() const;
  /// Of a string: bytes as the file has them, \uXXXX as UTF-8 (half a surrogate pair as three
  /// bytes). "" for anything else.
  std::string_view text() const;
  const List& list() const;  // empty for anything else
  const Dict& dict() const;  // empty for anything else
  const BigInteger* big_integer() const { return std::get_if<BigInteger>(&value_); }
  /// The member of a dict; nullptr where there is none, or this is no dict.
  const PythonValue* find(std::string_view key) const;

  bool truth() const;                  // bool(value)
  std::string_view type_name() const;  // "NoneType", "bool", "int", "float", "str", "list", "dict"
  std::string repr() const;            // as Python's; not yet safe to print (core/text.h)
  /// repr(), safe to print and at most about `longest` bytes.
  std::string excerpt(std::size_t longest = 60) const;
  /// NaN, Infinity and -Infinity become texts, a big integer its digits as a text.
  Json to_json() const;

 private:
  template <typename T>
  bool holds() const {
    return std::holds_alternative<T>(value_);
  }

  std::variant<std::monostate, bool, std::int64_t, double, BigInteger, std::string, List, Dict>
      value_;
};

/// a == b.
bool equal(const PythonValue& a, const PythonValue& b);
/// `a is b or a == b`, by which list.count counts; each NaN that json.loads makes is one object.
bool same(const PythonValue& a, const PythonValue& b);
/// a < b; nothing where Python raises TypeError.
std::optional<bool> less(const PythonValue& a, const PythonValue& b);
/// a <= b, likewise.
std::optional<bool> less_equal(const PythonValue& a, const PythonValue& b);

}  // namespace bench::mlperf
