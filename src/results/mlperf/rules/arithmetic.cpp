#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "results/mlperf/rules/operand.h"

namespace bench::mlperf {
namespace {

[[noreturn]] void refuse_types(std::string_view what, const Operand& a, const Operand& b) {
  throw EvaluationError(fmt::format("{} is not defined for {} and {}", what, type_name(a), type_name(b)));
}

ExactInteger exact(const Operand& a) {
  return a.kind == Operand::Kind::big ? *a.big : ExactInteger(a.whole);
}

/// Like Python's float(), which rejects integers out of range.
double to_real(const Operand& a) {
  if (a.kind == Operand::Kind::real) return a.real;
  if (a.kind != Operand::Kind::big) return static_cast<double>(a.whole);
  const double real = a.big->real();
  if (std::isinf(real)) throw EvaluationError("int too large to convert to float");
  return real;
}

bool is_complex(const Operand& a) { return a.kind == Operand::Kind::complex; }

/// Converts both to complex numbers.
std::pair<Operand, Operand> both_complex(std::string_view what, const Operand& a,
                                         const Operand& b) {
  const auto as_complex = [&](const Operand& one) {
    if (is_complex(one)) return one;
    if (!one.is_number()) refuse_types(what, a, b);
    return Operand(to_real(one), 0.0);
  };
  return {as_complex(a), as_complex(b)};
}

Operand whole_result(double value) {
  if (std::isnan(value)) throw EvaluationError("cannot convert float NaN to integer");
  if (std::isinf(value)) throw EvaluationError("cannot convert float infinity to integer");
  return Operand(ExactInteger::of_real(value));
}

constexpr std::size_t kMaxDigits = 10'000;  // of a product; a logged integer has at most 4,300

/// The digits of a string that int() accepts: surrounding spaces, single '_' between digits.
ExactInteger whole_of_text(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n\r\f\v");
  const auto last = text.find_last_not_of(" \t\n\r\f\v");
  std::string digits;
  char before = '_';
  if (first != std::string_view::npos) {
    text = text.substr(first, last - first + 1);
    if (text.starts_with('-')) digits = "-";
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    for (const char byte : text) {
      const bool fits = (byte >= '0' && byte <= '9') || (byte == '_' && before != '_');
      if (!fits) {
        before = '_';
        break;
      }
      if (byte != '_') digits += byte;
      before = byte;
    }
  }
  if (before == '_' || digits.size() > kMaxDigits)
    throw EvaluationError("the string is not an integer");
  return ExactInteger::of_digits(digits);
}

/// a / b from the leading digits if one is out of the range of f64.
double ratio_of_large(const ExactInteger& a, const ExactInteger& b) {
  constexpr std::size_t kLeading = 18;
  const auto split = [](const ExactInteger& number) {
    std::string digits = number.digits();
    if (number.negative()) digits.erase(0, 1);
    const std::size_t dropped = digits.size() > kLeading ? digits.size() - kLeading : 0;
    return std::pair(std::stod(digits.substr(0, kLeading)), static_cast<int>(dropped));
  };
  const auto [a_digits, a_power] = split(a);
  const auto [b_digits, b_power] = split(b);
  const double ratio = std::strtod(
      fmt::format("{:.17g}e{}", a_digits / b_digits, a_power - b_power).c_str(), nullptr);
  return a.negative() == b.negative() ? ratio : -ratio;
}

}  // namespace

Operand add(const Operand& a, const Operand& b) {
  if (is_complex(a) || is_complex(b)) {
    const auto [x, y] = both_complex("the sum", a, b);
    return {x.real + y.real, x.imaginary + y.imaginary};
  }
  if (!a.is_number() || !b.is_number()) refuse_types("the sum", a, b);
  if (!a.is_whole() || !b.is_whole()) return Operand(to_real(a) + to_real(b));
  return Operand(exact(a) + exact(b));
}

Operand negative(const Operand& a) {
  if (is_complex(a)) return {-a.real, -a.imaginary};
  if (!a.is_number()) throw EvaluationError(fmt::format("negation is not defined for {}", type_name(a)));
  return a.is_whole() ? Operand(-exact(a)) : Operand(-a.real);
}

Operand subtract(const Operand& a, const Operand& b) {
  if (a.is_number() && b.is_number() && !(a.is_whole() && b.is_whole()))
    return Operand(to_real(a) - to_real(b));
  if (!(b.is_number() || is_complex(b))) refuse_types("the difference", a, b);
  return add(a, negative(b));
}

Operand multiply(const Operand& a, const Operand& b) {
  if (is_complex(a) || is_complex(b)) {
    const auto [x, y] = both_complex("the product", a, b);
    return {x.real * y.real - x.imaginary * y.imaginary,
            x.real * y.imaginary + x.imaginary * y.real};
  }
  if (!a.is_number() || !b.is_number()) refuse_types("the product", a, b);
  if (!a.is_whole() || !b.is_whole()) return Operand(to_real(a) * to_real(b));
  const Operand product{exact(a) * exact(b)};
  if (product.kind == Operand::Kind::big && product.big->digits().size() > kMaxDigits)
    throw EvaluationError("the product has too many digits");
  return product;
}

Operand divide(const Operand& a, const Operand& b) {
  if (!a.is_number() || !b.is_number()) refuse_types("the quotient", a, b);
  if (!truth(b)) throw EvaluationError("division by zero");
  if (!a.is_whole() || !b.is_whole()) return Operand(to_real(a) / to_real(b));
  const ExactInteger x = exact(a);
  const ExactInteger y = exact(b);
  if (std::isfinite(x.real()) && std::isfinite(y.real())) return Operand(x.real() / y.real());
  const double ratio = ratio_of_large(x, y);
  if (std::isinf(ratio)) throw EvaluationError("the quotient is too large for a float");
  return Operand(ratio);
}

Operand power(const Operand& a, const Operand& b) {
  if (!a.is_number() || !b.is_number()) refuse_types("the power", a, b);
  const double base = to_real(a);
  const double exponent = to_real(b);
  if (base == 0.0 && exponent < 0.0) throw EvaluationError("0 cannot be raised to a negative power");
  if (std::isfinite(base) && std::isfinite(exponent) && base < 0.0 &&
      exponent != std::floor(exponent)) {
    const double length = std::pow(-base, exponent);
    const double angle = std::numbers::pi * exponent;
    return {length * std::cos(angle), length * std::sin(angle)};
  }
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent))
    throw EvaluationError("the power is too large for a float");
  return Operand(result);
}

Operand absolute(const Operand& a) {
  if (is_complex(a)) return Operand(std::hypot(a.real, a.imaginary));
  if (!a.is_number()) throw EvaluationError(fmt::format("abs is not defined for {}", type_name(a)));
  if (a.kind == Operand::Kind::real) return Operand(std::abs(a.real));
  const ExactInteger number = exact(a);
  return Operand(number.negative() ? -number : number);
}

Operand ceiling(const Operand& a) {
  if (!a.is_number())
    throw EvaluationError(fmt::format("cannot round {}", type_name(a)));
  return a.is_whole() ? Operand(exact(a)) : whole_result(std::ceil(a.real));
}

Operand floor(const Operand& a) {
  if (!a.is_number())
    throw EvaluationError(fmt::format("cannot round {}", type_name(a)));
  return a.is_whole() ? Operand(exact(a)) : whole_result(std::floor(a.real));
}

Operand to_whole(const Operand& a) {
  if (a.kind == Operand::Kind::text) return Operand(whole_of_text(a.text));
  if (!a.is_number()) throw EvaluationError(fmt::format("cannot convert {} to int", type_name(a)));
  return a.is_whole() ? Operand(exact(a)) : whole_result(a.real);
}

bool nearly_whole(const Operand& a) {
  if (!a.is_number())
    throw EvaluationError(fmt::format("cannot round {}", type_name(a)));
  if (a.is_whole()) return true;
  whole_result(a.real);
  constexpr double kNear = 0.00001;
  return std::abs(std::nearbyint(a.real) - a.real) < kNear;
}

Operand smaller(const Operand& a, const Operand& b) { return holds(Relation::less, b, a) ? b : a; }

}  // namespace bench::mlperf
