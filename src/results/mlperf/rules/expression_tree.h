// The syntax tree of an Expression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/mlperf/rules/expression.h"

namespace bench::mlperf {

enum class Op : std::uint8_t {
  constant,  // `literal`
  text,      // `text`
  list,      // children; only after `in`
  value,
  metadata,
  time_ms,
  state,   // `slot`; `text` its name
  member,  // child 0, `text`
  negative,
  add,
  subtract,
  multiply,
  divide,
  power,
  comparison,  // children and between them `relations`
  contains,    // child 0 in child 1
  logical_not,
  logical_and,
  logical_or,
  choice,  // child 0 if child 1 else child 2
  ceiling,
  floor,
  absolute,
  to_whole,
  nearly_whole,
  smaller
};

struct Node {
  Op op = Op::constant;
  std::vector<Node> children = {};
  Operand literal = {};
  std::string text = {};
  std::size_t slot = 0;
  std::vector<Relation> relations = {};
};

/// Throws Error(input).
Node parse_expression(std::string_view text, Vocabulary& vocabulary);

/// Throws EvaluationError.
Operand evaluate(const Node& node, const Scope& scope);

/// True if any part reads this property of the line.
bool reads(const Node& node, Op what);

}  // namespace bench::mlperf
