// A value during evaluation, with Python's arithmetic and comparisons. A Python exception becomes
// an EvaluationError. Strings, lists and dicts are borrowed from the log.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mlperf/log/exact_integer.h"
#include "mlperf/log/python_value.h"

namespace bench::mlperf {

/// An operation for which Python raises an exception.
struct EvaluationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Operand {
  enum class Kind : std::uint8_t { none, boolean, whole, big, real, complex, text, tree };

  Operand() = default;  // None
  explicit Operand(bool value) : kind(Kind::boolean), whole(value ? 1 : 0) {}
  explicit Operand(std::int64_t value) : kind(Kind::whole), whole(value) {}
  explicit Operand(double value) : kind(Kind::real), real(value) {}
  explicit Operand(std::string_view value) : kind(Kind::text), text(value) {}
  explicit Operand(const PythonValue& value);
  explicit Operand(const ExactInteger& value);  // big only if it does not fit in 64 bits
  Operand(double real_part, double imaginary_part)
      : kind(Kind::complex), real(real_part), imaginary(imaginary_part) {}

  bool is_whole() const {
    return kind == Kind::boolean || kind == Kind::whole || kind == Kind::big;
  }
  bool is_number() const { return is_whole() || kind == Kind::real; }

  Kind kind = Kind::none;
  std::int64_t whole = 0;  // of a boolean too
  double real = 0.0;
  double imaginary = 0.0;
  std::string_view text = {};
  const PythonValue* tree = nullptr;  // a list or a dict
  std::shared_ptr<const ExactInteger> big = {};
};

bool truth(const Operand& a);
std::string_view type_name(const Operand& a);  // as Python's
/// As Python's repr, shortened and safe to print.
std::string words(const Operand& a);

enum class Relation : std::uint8_t { equal, unequal, less, less_equal, greater, greater_equal };
/// Throws EvaluationError for types without an order.
bool holds(Relation relation, const Operand& a, const Operand& b);
/// `item in container`: a dict key, a list element or a substring.
bool contains(const Operand& container, const Operand& item);
/// `container[key]` of a dict.
Operand member(const Operand& container, std::string_view key);

Operand add(const Operand& a, const Operand& b);
Operand subtract(const Operand& a, const Operand& b);
Operand multiply(const Operand& a, const Operand& b);
Operand divide(const Operand& a, const Operand& b);
/// Python's a % b of numbers, with the sign of `b`. Throws for text, which Python would format.
Operand remainder(const Operand& a, const Operand& b);
/// On floats: a negative number to a fractional power is complex, as in Python. Integers are
/// converted to floats.
Operand power(const Operand& a, const Operand& b);
Operand negative(const Operand& a);
Operand absolute(const Operand& a);
Operand ceiling(const Operand& a);
Operand floor(const Operand& a);
/// int(a): truncates; accepts strings of decimal digits.
Operand to_whole(const Operand& a);
/// The is_integer of the official rules: within 1e-5 of an integer.
bool nearly_whole(const Operand& a);
/// Python's min(a, b): the first one if neither is smaller.
Operand smaller(const Operand& a, const Operand& b);
Operand larger(const Operand& a, const Operand& b);  // max(a, b), likewise

}  // namespace bench::mlperf
