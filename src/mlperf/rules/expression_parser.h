// A recursive-descent parser: one function per precedence level, lowest first.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mlperf/rules/expression.h"
#include "mlperf/rules/expression_tokens.h"

namespace bench::mlperf {

template <class... Children>
Node node_of(Op op, Children... children) {
  Node node;
  node.op = op;
  (node.children.push_back(std::move(children)), ...);
  return node;
}

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, Vocabulary& vocabulary)
      : tokens_(text), vocabulary_(vocabulary) {}

  /// Throws Error(input).
  Node whole();

 private:
  /// Counts a nesting level during its lifetime.
  struct Level {
    explicit Level(ExpressionParser& parser) : depth(parser.depth_) {
      if (++depth > kDeepestExpression)
        parser.tokens_.refuse(fmt::format("nested more than {} levels deep", kDeepestExpression));
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --depth; }
    int& depth;
  };

  Node choice();
  Node disjunction();
  Node conjunction();
  Node negation();
  std::optional<Relation> take_relation();
  Node comparison();
  Node sum();
  Node product();
  Node signed_power();
  Node members();

  // Primary expressions: expression_names.cpp.
  std::string name(std::string_view of_what);
  Node primary();
  Node number();
  Node named();
  [[noreturn]] void refuse_name(std::string_view word);
  Node call(Op op);
  Node container();  // after `in`

  Tokens tokens_;
  Vocabulary& vocabulary_;
  int depth_ = 0;
};

}  // namespace bench::mlperf
