// Describes the expected and the found value of an expression in words.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "results/mlperf/rules/expression.h"

namespace bench::mlperf {

/// "8192", "at most 5.6", "one of 'closed', 'open'"; otherwise the expression itself.
std::string expected_words(const Expression& expression, const Scope& scope);
/// The part of the line that the expression reads: its metadata or its value.
std::string found_words(const Expression& expression, const Scope& scope);

/// Text with expressions in braces: "within {state.limit} minutes".
class Template {
 public:
  Template() = default;
  /// Throws Error(input).
  Template(std::string_view text, Vocabulary& vocabulary);

  bool empty() const { return parts_.empty(); }
  /// An expression that Python cannot evaluate becomes "unknown".
  std::string fill(const Scope& scope) const;

 private:
  std::vector<std::variant<std::string, Expression>> parts_;
};

}  // namespace bench::mlperf
