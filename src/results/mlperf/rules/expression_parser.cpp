#include "results/mlperf/rules/expression_parser.h"

#include <array>

namespace bench::mlperf {
namespace {

constexpr std::array<std::pair<std::string_view, Relation>, 6> kRelations = {
    {{"==", Relation::equal},
     {"!=", Relation::unequal},
     {"<=", Relation::less_equal},
     {">=", Relation::greater_equal},
     {"<", Relation::less},
     {">", Relation::greater}}};

}  // namespace

Node ExpressionParser::whole() {
  Node node = choice();
  if (tokens_.next().kind != TokenKind::end) tokens_.refuse("expected the end of the expression");
  return node;
}

Node ExpressionParser::choice() {
  const Level level(*this);
  Node first = disjunction();
  if (!tokens_.take("if")) return first;
  Node condition = disjunction();
  tokens_.expect("else");
  Node second = choice();
  return node_of(Op::choice, std::move(first), std::move(condition), std::move(second));
}

Node ExpressionParser::disjunction() {
  Node node = conjunction();
  while (tokens_.take("or")) node = node_of(Op::logical_or, std::move(node), conjunction());
  return node;
}

Node ExpressionParser::conjunction() {
  Node node = negation();
  while (tokens_.take("and")) node = node_of(Op::logical_and, std::move(node), negation());
  return node;
}

Node ExpressionParser::negation() {
  const Level level(*this);
  return tokens_.take("not") ? node_of(Op::logical_not, negation()) : comparison();
}

std::optional<Relation> ExpressionParser::take_relation() {
  for (const auto& [sign, relation] : kRelations)
    if (tokens_.take(sign)) return relation;
  return {};
}

Node ExpressionParser::comparison() {
  Node first = sum();
  if (tokens_.take("in")) return node_of(Op::contains, std::move(first), container());
  std::optional<Relation> relation = take_relation();
  if (!relation) return first;
  Node node = node_of(Op::comparison, std::move(first));
  for (; relation; relation = take_relation()) {
    node.relations.push_back(*relation);
    node.children.push_back(sum());
  }
  return node;
}

Node ExpressionParser::sum() {
  Node node = product();
  while (true) {
    if (tokens_.take("+"))
      node = node_of(Op::add, std::move(node), product());
    else if (tokens_.take("-"))
      node = node_of(Op::subtract, std::move(node), product());
    else
      return node;
  }
}

Node ExpressionParser::product() {
  Node node = signed_power();
  while (true) {
    if (tokens_.take("*"))
      node = node_of(Op::multiply, std::move(node), signed_power());
    else if (tokens_.take("/"))
      node = node_of(Op::divide, std::move(node), signed_power());
    else
      return node;
  }
}

Node ExpressionParser::signed_power() {
  const Level level(*this);
  if (tokens_.take("-")) return node_of(Op::negative, signed_power());
  Node node = members();
  if (!tokens_.take("**")) return node;
  return node_of(Op::power, std::move(node), signed_power());
}

Node ExpressionParser::members() {
  Node node = primary();
  while (tokens_.take(".")) {
    node = node_of(Op::member, std::move(node));
    node.text = name("a member");
  }
  return node;
}

Node parse_expression(std::string_view text, Vocabulary& vocabulary) {
  return ExpressionParser(text, vocabulary).whole();
}

}  // namespace bench::mlperf
