// A value of Python's json.loads with Python's comparisons, on which the official tools rely (True
// == 1 == 1.0, integers of any size, NaN unequal to itself).
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
  /// Unique keys in first-seen order, each with its last value.
  using Dict = std::vector<std::pair<std::string, PythonValue>>;
  /// An integer of more than 64 bits: decimal digits with an optional '-'.
  struct BigInteger {
    std::string digits;
  };

  PythonValue() = default;  // None
  /// A bool, or an int of any type. (A bool parameter would also accept pointers.)
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
  bool is_int() const { return holds<std::int64_t>() || holds<BigInteger>(); }  // excludes bool
  bool is_float() const { return holds<double>(); }
  bool is_string() const { return holds<std::string>(); }
  bool is_list() const { return holds<List>(); }
  bool is_dict() const { return holds<Dict>(); }
  bool is_number() const { return is_bool() || is_int() || is_float(); }

  /// For a bool, int or float; a big integer is rounded, to infinity if out of range. NaN if not a
  /// number.
  double number() const;
  /// For a bool or an int that fits in 64 bits.
  std::optional<std::int64_t> integer() const;
  /// For a string: raw bytes of the file, \uXXXX as UTF-8 (a lone surrogate as three bytes). "" for
  /// anything else.
  std::string_view text() const;
  const List& list() const;  // empty for anything else
  const Dict& dict() const;  // empty for anything else
  const BigInteger* big_integer() const { return std::get_if<BigInteger>(&value_); }
  /// The member of a dict; nullptr if missing or not a dict.
  const PythonValue* find(std::string_view key) const;

  bool truth() const;                  // bool(value)
  std::string_view type_name() const;  // "NoneType", "bool", "int", "float", "str", "list", "dict"
  std::string repr() const;            // like Python's; not safe to print (core/text.h)
  /// repr(), safe to print and cut to about `longest` bytes.
  std::string excerpt(std::size_t longest = 60) const;
  /// Converts NaN, Infinity, -Infinity and big integers to strings.
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
/// `a is b or a == b`, as used by list.count; each NaN of json.loads is a separate object.
bool same(const PythonValue& a, const PythonValue& b);
/// a < b; empty if Python raises TypeError.
std::optional<bool> less(const PythonValue& a, const PythonValue& b);
/// a <= b, likewise.
std::optional<bool> less_equal(const PythonValue& a, const PythonValue& b);

}  // namespace bench::mlperf
