#include "mlperf/rules/operand.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "core/text.h"

namespace bench::mlperf {
namespace {

[[noreturn]] void refuse_types(std::string_view what, const Operand& a, const Operand& b) {
  throw EvaluationError(
      fmt::format("{} is not defined for {} and {}", what, type_name(a), type_name(b)));
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

/// The value of a string that int() accepts: surrounding spaces, single '_' between digits.
ExactInteger whole_of_text(std::string_view text) {
  text = trim(text);
  std::string digits = text.starts_with('-') ? "-" : "";
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  char before = '_';
  for (const char byte : text) {
    const bool fits = is_digit(byte) || (byte == '_' && before != '_');
    before = fits ? byte : '_';
    if (!fits) break;
    if (byte != '_') digits += byte;
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
  if (!a.is_number())
    throw EvaluationError(fmt::format("negation is not defined for {}", type_name(a)));
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

Operand remainder(const Operand& a, const Operand& b) {
  if (!a.is_number() || !b.is_number()) refuse_types("the remainder", a, b);
  if (!truth(b)) throw EvaluationError("division by zero");
  if (a.is_whole() && b.is_whole()) return Operand(exact(a) % exact(b));
  const double divisor = to_real(b);
  const double rest = std::fmod(to_real(a), divisor);
  if (rest == 0.0) return Operand(std::copysign(0.0, divisor));
  return Operand((rest < 0.0) != (divisor < 0.0) ? rest + divisor : rest);
}

Operand power(const Operand& a, const Operand& b) {
  if (!a.is_number() || !b.is_number()) refuse_types("the power", a, b);
  const double base = to_real(a);
  const double exponent = to_real(b);
  if (base == 0.0 && exponent < 0.0)
    throw EvaluationError("0 cannot be raised to a negative power");
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
  if (!a.is_number()) throw EvaluationError(fmt::format("cannot round {}", type_name(a)));
  return a.is_whole() ? Operand(exact(a)) : whole_result(std::ceil(a.real));
}

Operand floor(const Operand& a) {
  if (!a.is_number()) throw EvaluationError(fmt::format("cannot round {}", type_name(a)));
  return a.is_whole() ? Operand(exact(a)) : whole_result(std::floor(a.real));
}

Operand to_whole(const Operand& a) {
  if (a.kind == Operand::Kind::text) return Operand(whole_of_text(a.text));
  if (!a.is_number()) throw EvaluationError(fmt::format("cannot convert {} to int", type_name(a)));
  return a.is_whole() ? Operand(exact(a)) : whole_result(a.real);
}

bool nearly_whole(const Operand& a) {
  if (!a.is_number()) throw EvaluationError(fmt::format("cannot round {}", type_name(a)));
  if (a.is_whole()) return true;
  whole_result(a.real);
  constexpr double kNear = 0.00001;
  return std::abs(std::nearbyint(a.real) - a.real) < kNear;
}

Operand smaller(const Operand& a, const Operand& b) { return holds(Relation::less, b, a) ? b : a; }
Operand larger(const Operand& a, const Operand& b) {
  return holds(Relation::greater, b, a) ? b : a;
}

namespace {

using Kind = Operand::Kind;

std::partial_ordering order(const Operand& a, const Operand& b) {
  if (a.kind == Kind::real && b.kind == Kind::real) return a.real <=> b.real;
  if (b.kind == Kind::real)
    return a.kind == Kind::big ? compare_exactly(*a.big, b.real) : compare_exactly(a.whole, b.real);
  if (a.kind == Kind::real) return 0 <=> order(b, a);
  if (a.kind != Kind::big && b.kind != Kind::big) return a.whole <=> b.whole;
  return exact(a) <=> exact(b);
}

bool equal_operands(const Operand& a, const Operand& b) {
  if (a.is_number() && b.is_number()) return order(a, b) == 0;
  if (a.kind != b.kind) return false;
  if (a.kind == Kind::complex) return a.real == b.real && a.imaginary == b.imaginary;
  if (a.kind == Kind::text) return a.text == b.text;
  return a.kind == Kind::none || equal(*a.tree, *b.tree);
}

[[noreturn]] void refuse_order(const Operand& a, const Operand& b) {
  throw EvaluationError(fmt::format("cannot compare {} with {}", type_name(a), type_name(b)));
}

bool in_order(Relation relation, std::partial_ordering order) {
  switch (relation) {
    case Relation::less:
      return order < 0;
    case Relation::less_equal:
      return order <= 0;
    case Relation::greater:
      return order > 0;
    default:
      return order >= 0;
  }
}

bool ordered_trees(Relation relation, const PythonValue& a, const PythonValue& b) {
  const bool turned = relation == Relation::greater || relation == Relation::greater_equal;
  const PythonValue& first = turned ? b : a;
  const PythonValue& second = turned ? a : b;
  const bool strict = relation == Relation::less || relation == Relation::greater;
  const auto answer = strict ? less(first, second) : less_equal(first, second);
  if (!answer) refuse_order(Operand(a), Operand(b));
  return *answer;
}

}  // namespace

Operand::Operand(const PythonValue& value) {
  if (value.is_bool() || value.is_int()) {
    const std::optional<std::int64_t> small = value.integer();
    if (!small) {
      *this = Operand(ExactInteger::of_digits(value.big_integer()->digits));
      return;
    }
    kind = value.is_bool() ? Kind::boolean : Kind::whole;
    whole = *small;
  } else if (value.is_float()) {
    kind = Kind::real;
    real = value.number();
  } else if (value.is_string()) {
    kind = Kind::text;
    text = value.text();
  } else if (!value.is_none()) {
    kind = Kind::tree;
    tree = &value;
  }
}

Operand::Operand(const ExactInteger& value) : kind(Kind::whole) {
  if (const std::optional<std::int64_t> small = value.small()) {
    whole = *small;
  } else {
    kind = Kind::big;
    big = std::make_shared<const ExactInteger>(value);
  }
}

bool truth(const Operand& a) {
  switch (a.kind) {
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::whole:
      return a.whole != 0;
    case Kind::big:
      return true;
    case Kind::real:
    case Kind::complex:
      return a.real != 0.0 || a.imaginary != 0.0;
    case Kind::text:
      return !a.text.empty();
    case Kind::tree:
      break;
  }
  return a.tree->truth();
}

std::string_view type_name(const Operand& a) {
  constexpr std::array kNames = {"NoneType", "bool", "int", "int", "float", "complex", "str"};
  return a.kind == Kind::tree ? a.tree->type_name() : kNames[static_cast<std::size_t>(a.kind)];
}

std::string words(const Operand& a) {
  switch (a.kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return PythonValue(a.whole != 0).excerpt();
    case Kind::whole:
      return fmt::format("{}", a.whole);
    case Kind::big:
      return PythonValue(PythonValue::BigInteger{a.big->digits()}).excerpt();
    case Kind::real:
      return PythonValue(a.real).excerpt();
    case Kind::complex:
      return fmt::format("a complex number ({} and {}j)", a.real, a.imaginary);
    case Kind::text:
      return PythonValue(a.text).excerpt();
    case Kind::tree:
      break;
  }
  return a.tree->excerpt();
}

bool holds(Relation relation, const Operand& a, const Operand& b) {
  if (relation == Relation::equal) return equal_operands(a, b);
  if (relation == Relation::unequal) return !equal_operands(a, b);
  if (a.is_number() && b.is_number()) return in_order(relation, order(a, b));
  if (a.kind == Kind::text && b.kind == Kind::text) return in_order(relation, a.text <=> b.text);
  if (a.kind == Kind::tree && b.kind == Kind::tree)
    return ordered_trees(relation, *a.tree, *b.tree);
  refuse_order(a, b);
}

bool contains(const Operand& container, const Operand& item) {
  if (container.kind == Kind::text) {
    if (item.kind == Kind::text) return container.text.find(item.text) != std::string_view::npos;
  } else if (container.kind == Kind::tree && container.tree->is_dict()) {
    return item.kind == Kind::text && container.tree->find(item.text) != nullptr;
  } else if (container.kind == Kind::tree) {
    for (const PythonValue& element : container.tree->list())
      if (equal_operands(Operand(element), item)) return true;
    return false;
  }
  throw EvaluationError(
      fmt::format("{} cannot be an element of {}", type_name(item), type_name(container)));
}

Operand member(const Operand& container, std::string_view key) {
  if (container.kind != Kind::tree || !container.tree->is_dict())
    throw EvaluationError(fmt::format("{} has no member '{}'", type_name(container), key));
  const PythonValue* found = container.tree->find(key);
  if (found == nullptr) throw EvaluationError(fmt::format("key '{}' is missing", key));
  return Operand(*found);
}

}  // namespace bench::mlperf
