#include "results/mlperf/check/resubmission.h"

#include <algorithm>
#include <map>

namespace bench::mlperf {
namespace {

std::size_t age_of(const std::vector<RuleSet>& known, const std::string& version) {
  const auto at = std::find_if(known.begin(), known.end(),
                               [&](const RuleSet& set) { return set.version == version; });
  return static_cast<std::size_t>(at - known.begin());
}

}  // namespace

std::vector<std::size_t> apply_newest_round(std::vector<LogChoice>& logs,
                                         const std::vector<RuleSet>& known) {
  std::map<std::filesystem::path, std::size_t> newest;
  for (const LogChoice& log : logs)
    if (!log.organisation.empty())
      newest[log.organisation] =
          std::max(newest[log.organisation], age_of(known, log.choice.version));
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const auto at = newest.find(logs[i].organisation);
    if (at == newest.end() || at->second >= known.size()) continue;
    const RuleSet& rules = known[at->second];
    if (age_of(known, logs[i].choice.version) >= at->second ||
        !rules.benchmarks.contains(logs[i].benchmark))
      continue;
    logs[i].choice = {.version = rules.version,
                      .reason = "submitted together with runs of " + rules.round +
                                "; on its own, the log would be checked against " + logs[i].choice.version};
    changed.push_back(i);
  }
  return changed;
}

}  // namespace bench::mlperf
