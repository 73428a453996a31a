#include "results/mlperf/rules/operand.h"

#include <fmt/format.h>

#include <cmath>

namespace bench::mlperf {
namespace {

using Kind = Operand::Kind;

/// Compares numbers: -1, 0, 1, empty for NaN.
std::optional<int> order(const Operand& a, const Operand& b) {
  if (a.kind == Kind::real && b.kind == Kind::real) {
    if (std::isnan(a.real) || std::isnan(b.real)) return {};
    return a.real < b.real ? -1 : a.real > b.real ? 1 : 0;
  }
  if (b.kind == Kind::real)
    return a.kind == Kind::big ? compare_exactly(*a.big, b.real) : compare_exactly(a.whole, b.real);
  if (a.kind == Kind::real) {
    const std::optional<int> turned = order(b, a);
    return turned ? std::optional<int>(-*turned) : std::nullopt;
  }
  if (a.kind != Kind::big && b.kind != Kind::big)
    return a.whole < b.whole ? -1 : a.whole > b.whole ? 1 : 0;
  const auto whole = [](const Operand& one) {
    return one.kind == Kind::big ? *one.big : ExactInteger(one.whole);
  };
  const auto exact = whole(a) <=> whole(b);
  return exact < 0 ? -1 : exact > 0 ? 1 : 0;
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

bool in_order(Relation relation, int sign) {
  switch (relation) {
    case Relation::less:
      return sign < 0;
    case Relation::less_equal:
      return sign <= 0;
    case Relation::greater:
      return sign > 0;
    default:
      return sign >= 0;
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
  switch (a.kind) {
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::whole:
    case Kind::big:
      return "int";
    case Kind::real:
      return "float";
    case Kind::complex:
      return "complex";
    case Kind::text:
      return "str";
    case Kind::tree:
      break;
  }
  return a.tree->type_name();
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
  if (a.is_number() && b.is_number()) {
    const std::optional<int> sign = order(a, b);
    return sign && in_order(relation, *sign);
  }
  if (a.kind == Kind::text && b.kind == Kind::text)
    return in_order(relation, a.text.compare(b.text));
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
