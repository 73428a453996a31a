#include "mlperf/rules/expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "mlperf/rules/expression_parser.h"

namespace bench::mlperf {
namespace {

bool compare(const Node& node, const Scope& scope) {
  Operand left = evaluate(node.children[0], scope);
  for (std::size_t i = 0; i < node.relations.size(); ++i) {
    Operand right = evaluate(node.children[i + 1], scope);
    if (!holds(node.relations[i], left, right)) return false;
    left = std::move(right);
  }
  return true;
}

bool is_in(const Node& node, const Scope& scope) {
  const Operand item = evaluate(node.children[0], scope);
  const Node& container = node.children[1];
  if (container.op != Op::list) return contains(evaluate(container, scope), item);
  return std::any_of(container.children.begin(), container.children.end(), [&](const Node& one) {
    return holds(Relation::equal, item, evaluate(one, scope));
  });
}

/// Python's `and` and `or` return the deciding operand.
Operand decide(const Node& node, const Scope& scope) {
  Operand first = evaluate(node.children[0], scope);
  return truth(first) == (node.op == Op::logical_or) ? first : evaluate(node.children[1], scope);
}

Operand of_state(const Node& node, const Scope& scope) {
  const bool known = scope.state != nullptr && node.slot < scope.state->size();
  if (!known || !(*scope.state)[node.slot])
    throw EvaluationError(fmt::format("no earlier line set '{}'", node.text));
  return *(*scope.state)[node.slot];
}

Operand of_line(const PythonValue* part, std::string_view name) {
  if (part == nullptr) throw EvaluationError(fmt::format("'{}' is not available here", name));
  return Operand(*part);
}

/// Operations on the values of all children.
Operand calculate(const Node& node, const Scope& scope) {
  const Operand a = evaluate(node.children[0], scope);
  if (node.children.size() > 1) {
    const Operand b = evaluate(node.children[1], scope);
    switch (node.op) {
      case Op::add:
        return add(a, b);
      case Op::subtract:
        return subtract(a, b);
      case Op::multiply:
        return multiply(a, b);
      case Op::divide:
        return divide(a, b);
      case Op::remainder:
        return remainder(a, b);
      case Op::power:
        return power(a, b);
      case Op::larger:
        return larger(a, b);
      default:
        return smaller(a, b);
    }
  }
  switch (node.op) {
    case Op::negative:
      return negative(a);
    case Op::ceiling:
      return ceiling(a);
    case Op::floor:
      return floor(a);
    case Op::absolute:
      return absolute(a);
    case Op::to_whole:
      return to_whole(a);
    default:
      return Operand(nearly_whole(a));
  }
}

}  // namespace

std::size_t Vocabulary::slot(std::string_view name) {
  const auto found = std::find(state.begin(), state.end(), name);
  if (found == state.end()) return state.emplace_back(name), state.size() - 1;
  return static_cast<std::size_t>(found - state.begin());
}

Operand evaluate(const Node& node, const Scope& scope) {
  switch (node.op) {
    case Op::constant:
      return node.literal;
    case Op::text:
      return Operand(std::string_view(node.text));
    case Op::value:
      return of_line(scope.value, "value");
    case Op::metadata:
      return of_line(scope.metadata, "metadata");
    case Op::time_ms:
      return Operand(scope.time_ms);
    case Op::state:
      return of_state(node, scope);
    case Op::member:
      return member(evaluate(node.children[0], scope), node.text);
    case Op::comparison:
      return Operand(compare(node, scope));
    case Op::contains:
      return Operand(is_in(node, scope));
    case Op::logical_not:
      return Operand(!truth(evaluate(node.children[0], scope)));
    case Op::logical_and:
    case Op::logical_or:
      return decide(node, scope);
    case Op::choice:
      return evaluate(node.children[truth(evaluate(node.children[1], scope)) ? 0 : 2], scope);
    case Op::list:  // the parser allows it only after `in`
      throw EvaluationError("a list cannot be used as a value");
    default:
      return calculate(node, scope);
  }
}

bool reads(const Node& node, Op what) {
  return node.op == what || std::any_of(node.children.begin(), node.children.end(),
                                        [&](const Node& child) { return reads(child, what); });
}

Expression::Expression(std::string_view text, Vocabulary& vocabulary)
    : text_(text), tree_(std::make_shared<const Node>(parse_expression(text, vocabulary))) {}

Operand Expression::evaluate(const Scope& scope) const { return mlperf::evaluate(*tree_, scope); }

}  // namespace bench::mlperf
