#include "results/mlperf/rules/expression_words.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"
#include "results/mlperf/rules/expression_tree.h"

namespace bench::mlperf {
namespace {

/// The text of an expression that Python cannot evaluate.
constexpr std::string_view kUnknown = "unknown";

std::string value_text(const Node& node, const Scope& scope) try {
  return words(evaluate(node, scope));
} catch (const EvaluationError&) {
  return std::string(kUnknown);
}

std::string_view relation_text(Relation relation) {
  switch (relation) {
    case Relation::equal:
      return "";
    case Relation::unequal:
      return "not ";
    case Relation::less:
      return "less than ";
    case Relation::less_equal:
      return "at most ";
    case Relation::greater:
      return "more than ";
    case Relation::greater_equal:
      break;
  }
  return "at least ";
}

/// The expected value of the line; "" if the node does not constrain it.
std::string expected_of_value(const Node& node, const Scope& scope) {
  const auto is_value = [](const Node& one) { return one.op == Op::value; };
  if (node.op == Op::logical_and) {
    const std::string first = expected_of_value(node.children[0], scope);
    const std::string second = expected_of_value(node.children[1], scope);
    return first.empty() || second.empty() ? "" : first + " and " + second;
  }
  if (node.op == Op::nearly_whole && is_value(node.children[0])) return "an integer";
  if (node.op == Op::contains && is_value(node.children[0]) && node.children[1].op == Op::list) {
    std::vector<std::string> items;
    for (const Node& item : node.children[1].children) items.push_back(value_text(item, scope));
    return "one of " + join(items, ", ");
  }
  if (node.op != Op::comparison || !is_value(node.children[0]) || node.children.size() != 2)
    return "";
  const std::string wanted = value_text(node.children[1], scope);
  return wanted == kUnknown ? "" : fmt::format("{}{}", relation_text(node.relations[0]), wanted);
}

/// The expected metadata of the line; "" if the node does not constrain it.
std::string expected_of_metadata(const Node& node) {
  if (node.op == Op::logical_or) {
    const std::string first = expected_of_metadata(node.children[0]);
    const std::string second = expected_of_metadata(node.children[1]);
    return first.empty() || second.empty() ? "" : first + " or " + second;
  }
  const bool key = node.op == Op::contains && node.children[0].op == Op::text &&
                   node.children[1].op == Op::metadata;
  return key ? node.children[0].text : "";
}

}  // namespace

std::string expected_words(const Expression& expression, const Scope& scope) {
  const std::string of_value = expected_of_value(expression.tree(), scope);
  if (!of_value.empty()) return of_value;
  const std::string of_metadata = expected_of_metadata(expression.tree());
  return of_metadata.empty() ? expression.text() : of_metadata + " in the metadata";
}

std::string found_words(const Expression& expression, const Scope& scope) {
  constexpr std::size_t kLongest = 120;
  const bool metadata = reads(expression.tree(), Op::metadata);
  const PythonValue* part = metadata ? scope.metadata : scope.value;
  return part == nullptr ? "nothing" : (metadata ? "metadata " : "") + part->excerpt(kLongest);
}

Template::Template(std::string_view text, Vocabulary& vocabulary) {
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    if (open != 0) parts_.emplace_back(std::string(text.substr(0, open)));
    if (open == std::string_view::npos) return;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos)
      throw Error(ErrorKind::input, fmt::format("unclosed brace in '{}'", printable(text)),
                  "write it as {expression}");
    parts_.emplace_back(Expression(text.substr(open + 1, close - open - 1), vocabulary));
    text.remove_prefix(close + 1);
  }
}

std::string Template::fill(const Scope& scope) const {
  std::string text;
  for (const auto& part : parts_) {
    if (const auto* literal_text = std::get_if<std::string>(&part))
      text += *literal_text;
    else
      text += value_text(std::get<Expression>(part).tree(), scope);
  }
  return text;
}

}  // namespace bench::mlperf
