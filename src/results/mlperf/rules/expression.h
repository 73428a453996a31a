// The expression language of rule sets: parsed once, evaluated with Python's arithmetic on values of
// the log. It has no loops, external calls or unbounded allocations.
//
//   value <= target and value > 0.0            comparisons, also chained; and or not; + - * / **
//   value in ['closed', 'open']                literal or named lists, only after `in`
//   'samples_count' in metadata                a dict key, an element, a substring
//   metadata.samples_count == state.expected   members; state set by earlier lines
//   1 if state.open else 2                     ceil floor abs int min is_integer
//
// Names: value, metadata, time_ms (of the line), state.NAME, and what the Vocabulary adds.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/mlperf/rules/operand.h"

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

}  // namespace bench::mlperf
