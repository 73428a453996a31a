// The rules of one MLPerf Training round, as data: rulesets/VERSION.json (schema
// schemas/mlperf_ruleset.json), read with all that it is based on. A section is one pass over a
// log: the common rules, those of a division, those of a benchmark in a division.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "results/mlperf/rules/expression.h"
#include "results/mlperf/rules/expression_words.h"

namespace bench::mlperf {

/// What each line with a key must hold, and how to say it.
struct LineTest {
  Expression test;
  Template expected = {};  // empty: said from the test
  Template found = {};
};

/// `state.NAME = value` after a line was tested.
struct Assignment {
  std::size_t slot = 0;
  Expression value;
};

struct KeyRule {
  /// How often the key is logged. Of exactly one, several equal values are but a warning.
  bool exactly_one = false;
  std::size_t at_least = 0;
  std::string or_key = {};            // this key or that one at least once
  std::vector<LineTest> tests = {};   // of each line; of submission_* of the first one
  std::vector<LineTest> first = {};   // of the first line
  std::optional<LineTest> some = {};  // of at least one line
  std::vector<Assignment> after = {};
  std::string continues = {};  // the section that follows: "closed/{value}"; "" for none
  std::string where = {};      // in the rules
};

/// Lines made of several: those with key `from` and a `name` in their metadata, one for each value
/// of `by`; they stand behind all others. Stable Diffusion's FID and CLIP become one so.
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

/// When a benchmark is to be evaluated, in the unit of its progress.
struct EvaluationSchedule {
  Expression every;
  Expression first;

  /// Nothing where the batch size gives none.
  std::optional<double> step(double global_batch_size) const;
  std::optional<double> start(double global_batch_size) const;
};

/// What the round says of a benchmark besides its sections.
struct Benchmark {
  std::size_t runs = 0;               // that a result needs
  std::optional<double> target = {};  // of eval_accuracy
  bool lower_is_better = false;
  std::string progress = {};  // metadata of eval_accuracy: "samples_count", "epoch_num"
  std::optional<EvaluationSchedule> evaluation = {};
};

struct RuleSet {
  std::string version = {};
  std::string round = {};
  std::string until = {};  // last day whose runs `auto` takes to be of this round; "": no last day
  std::map<std::string, Benchmark, std::less<>> benchmarks = {};
  std::map<std::string, Section, std::less<>> sections = {};
};

/// Where the rule sets that come with the program lie.
std::filesystem::path rule_set_folder();
/// Oldest first.
std::vector<std::string> rule_set_versions(const std::filesystem::path& folder);
/// Throws Error(input) for an unknown version, naming the known ones, and for a file that its
/// schema or the form of expressions refuses.
RuleSet load_rule_set(const std::filesystem::path& folder, std::string_view version);
/// All of a folder, oldest first.
std::vector<RuleSet> load_rule_sets(const std::filesystem::path& folder);

}  // namespace bench::mlperf
