// A value while an expression is evaluated, with Python's arithmetic and comparisons: what Python
// would raise is an EvaluationError. Texts, lists and dicts are borrowed from the log.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "results/mlperf/log/python_value.h"
#include "results/mlperf/rules/whole_number.h"

namespace bench::mlperf {

/// What Python raises for an operation; what() says why.
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
  explicit Operand(const ExactInteger& value);  // big only where 64 bits do not hold it
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
/// Throws EvaluationError for things without an order.
bool holds(Relation relation, const Operand& a, const Operand& b);
/// `item in container`: a key of a dict, an element of a list, a part of a text.
bool contains(const Operand& container, const Operand& item);
/// `container[key]` of a dict.
Operand member(const Operand& container, std::string_view key);

Operand add(const Operand& a, const Operand& b);
Operand subtract(const Operand& a, const Operand& b);
Operand multiply(const Operand& a, const Operand& b);
Operand divide(const Operand& a, const Operand& b);
/// Of floats: a negative number to a fraction is complex, as in Python. Whole numbers count as
/// floats here.
Operand power(const Operand& a, const Operand& b);
Operand negative(const Operand& a);
Operand absolute(const Operand& a);
Operand ceiling(const Operand& a);
Operand floor(const Operand& a);
/// int(a): a fraction is cut off; texts of decimal digits count.
Operand to_whole(const Operand& a);
/// What the official rules call is_integer: within 1e-5 of a whole number.
bool nearly_whole(const Operand& a);
/// The smaller one; the first one where neither is.
Operand smaller(const Operand& a, const Operand& b);

}  // namespace bench::mlperf
