#include "results/mlperf/submission/possible_rounds.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "results/mlperf/rules/rule_set_choice.h"

namespace bench::mlperf {
namespace {

namespace fs = std::filesystem;

std::set<std::string> folders_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) names.insert(at->path().filename().native());
  }
  return names;
}

/// The benchmark folder names of all submitters.
std::set<std::string> benchmark_folders(const Submission& submission) {
  std::set<std::string> names;
  std::set<fs::path> seen;
  for (const SubmissionEntry& entry : submission.entries) {
    names.insert(entry.benchmark);
    if (entry.organisation.empty() || !seen.insert(entry.organisation).second) continue;
    const fs::path results = entry.organisation / "results";
    for (const std::string& system : folders_in(results)) names.merge(folders_in(results / system));
  }
  return names;
}

bool has_all(const RuleSet& rules, const std::set<std::string>& names) {
  return std::ranges::all_of(
      names, [&](const std::string& name) { return rules.benchmarks.contains(name); });
}

}  // namespace

std::vector<RuleSet> possible_rounds(const Submission& submission, const fs::path& folder,
                                     const std::string& rule_set) {
  std::vector<RuleSet> known;
  if (rule_set != "auto") {
    known.push_back(load_rule_set(folder, rule_set));
    return known;
  }
  known = load_rule_sets(folder);
  std::set<std::string> names = benchmark_folders(submission);
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::none_of(
        known, [&](const RuleSet& rules) { return rules.benchmarks.contains(name); });
  });
  if (std::ranges::any_of(known, [&](const RuleSet& rules) { return has_all(rules, names); }))
    std::erase_if(known, [&](const RuleSet& rules) { return !has_all(rules, names); });
  return known;
}

}  // namespace bench::mlperf
