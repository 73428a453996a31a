// The rules of one MLPerf Training round: rulesets/VERSION.json (schema
// schemas/mlperf_ruleset.json), merged with the files it is based on. A section is one pass over a
// log: the common rules, those of a division, or those of a benchmark in a division.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/json.h"
#include "mlperf/rules/expression.h"

namespace bench::mlperf {

// Describes the expected and the found value of an expression in words.

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

/// A condition on a line, and the texts for its finding.
struct LineTest {
  Expression test;
  Template expected = {};  // empty: derived from the test
  Template found = {};
};

/// `state.NAME = value` after a line has been tested.
struct Assignment {
  std::size_t slot = 0;
  Expression value;
};

struct KeyRule {
  /// How often the key must be logged. For exactly one, repeated equal values are only a warning.
  bool exactly_one = false;
  std::size_t at_least = 0;
  std::string or_key = {};            // this key or that one at least once
  std::vector<LineTest> tests = {};   // for each line; for submission_* the first line only
  std::vector<LineTest> first = {};   // of the first line
  std::optional<LineTest> some = {};  // of at least one line
  std::vector<Assignment> after = {};
  std::string continues = {};  // the section that follows: "closed/{value}"; "" for none
  std::string where = {};      // section of the official rules
};

/// Merges lines with key `from` and a `name` in their metadata, one line for each value of `by`,
/// appended after all others. Combines Stable Diffusion's FID and CLIP.
struct Collection {
  std::string from, by, name, into;
};

struct KeyHash : std::hash<std::string_view> {
  using is_transparent = void;
};

struct Section {
  std::string name = {};
  State begin = {};
  std::vector<std::string> state_names = {};
  std::unordered_map<std::string, KeyRule, KeyHash, std::equal_to<>> keys = {};
  std::optional<Collection> collection = {};
};

/// The evaluation schedule of a benchmark, in samples or epochs.
struct EvaluationSchedule {
  Expression every;
  Expression first;

  /// Empty if the batch size gives none.
  std::optional<double> step(double global_batch_size) const;
  std::optional<double> start(double global_batch_size) const;
};

/// The properties of a benchmark in this round.
struct Benchmark {
  std::size_t runs = 0;               // that a result needs
  std::optional<double> target = {};  // of eval_accuracy
  bool lower_is_better = false;
  std::string progress = {};  // metadata of eval_accuracy: "samples_count", "epoch_num"
  std::optional<EvaluationSchedule> evaluation = {};
};

/// The release of the official checker whose verdicts the rules give; empty for rules of one's own.
struct CheckerRelease {
  std::string version = {};
  std::string date = {};  // "2026-10-24"

  bool empty() const { return version.empty(); }
  /// "mlperf_logging 4.1.68 (2026-10-24)"
  std::string text() const { return "mlperf_logging " + version + " (" + date + ")"; }
};

struct RuleSet {
  std::string version = {};
  std::string round = {};
  std::string until = {};  // last day of this round for `auto`; "": open-ended
  CheckerRelease checker = {};
  std::map<std::string, Benchmark, std::less<>> benchmarks = {};
  std::map<std::string, Section, std::less<>> sections = {};
};

/// The folder of the bundled rule sets.
std::filesystem::path rule_set_folder();
/// Oldest first.
std::vector<std::string> rule_set_versions(const std::filesystem::path& folder);
/// Throws Error(input) for an unknown version, listing the known ones, and for an invalid file.
RuleSet load_rule_set(const std::filesystem::path& folder, std::string_view version);
/// All of a folder, oldest first.
std::vector<RuleSet> load_rule_sets(const std::filesystem::path& folder);

}  // namespace bench::mlperf
