// The expression language of rule sets: parsed once, evaluated with Python's arithmetic on values
// of the log. It has no loops, external calls or unbounded allocations.
//
//   value <= target and value > 0.0            comparisons, also chained; and or not; + - * / % **
//   value in ['closed', 'open']                literal or named lists, only after `in`
//   'samples_count' in metadata                a dict key, an element, a substring
//   metadata.samples_count == state.expected   members; state set by earlier lines
//   1 if state.open else 2                     ceil floor abs int min max is_integer
//
// Names: value, metadata, time_ms (of the line), state.NAME, and what the Vocabulary adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mlperf/rules/operand.h"

namespace bench::mlperf {

inline constexpr std::size_t kLongestExpression = 2000;  // bytes
inline constexpr int kDeepestExpression = 50;            // levels of nesting

/// The names shared by the expressions of a section.
struct Vocabulary {
  std::vector<std::string> state = {};  // grows as expressions use more names
  std::map<std::string, std::vector<std::string>, std::less<>> lists = {};
  std::map<std::string, double, std::less<>> constants = {};

  /// Its slot in the state.
  std::size_t slot(std::string_view name);
};

/// Values set by earlier lines; an unset name is empty.
using State = std::vector<std::optional<Operand>>;

/// The inputs of an expression; all borrowed.
struct Scope {
  const PythonValue* value = nullptr;
  const PythonValue* metadata = nullptr;
  double time_ms = 0.0;
  const State* state = nullptr;
};

struct Node;

class Expression {
 public:
  /// Throws Error(input) with the position in the text.
  Expression(std::string_view text, Vocabulary& vocabulary);

  /// Throws EvaluationError where Python raises an exception. The result borrows from the scope and
  /// this expression.
  Operand evaluate(const Scope& scope) const;

  const std::string& text() const { return text_; }
  const Node& tree() const { return *tree_; }

 private:
  std::string text_;
  std::shared_ptr<const Node> tree_;
};

// The syntax tree of an Expression.

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
  remainder,
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
  smaller,
  larger
};

struct Node {
  Op op = Op::constant;
  std::vector<Node> children = {};
  Operand literal = {};
  std::string text = {};
  std::size_t slot = 0;
  std::vector<Relation> relations = {};
};

/// Throws EvaluationError.
Operand evaluate(const Node& node, const Scope& scope);

/// True if any part reads this property of the line.
bool reads(const Node& node, Op what);

}  // namespace bench::mlperf
