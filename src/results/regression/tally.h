// What the judgement of many series adds up to, before anything is called a finding: how likely a
// change is chance depends on how many were looked at.
#pragma once

#include <utility>
#include <vector>

#include "results/regression/level_history.h"
#include "results/regression/regression.h"

namespace bench {

struct Candidate {
  ChangeFinding finding;
  double p = 1.0;
  std::size_t test = 0;  // its place among newest_p of its side
  /// Configurations (before, after) where the change lies; of a fleet those of many members.
  std::vector<std::pair<std::int64_t, std::int64_t>> configurations = {};
  std::size_t members = 1;
};

/// The tests of one scope. Worse and better are families of their own: what got worse is sought,
/// and improvements must not lend it significance.
struct ScopeTally {
  std::size_t series = 0;
  std::vector<double> worse_p = {}, better_p = {};  // of newest values
  std::vector<Candidate> newest = {}, lasting = {};
};

struct Tally {
  ScopeTally fleet, host;
  std::size_t missing = 0, too_short = 0;
  std::int64_t newest_run = 0;

  ScopeTally& of(FindingScope scope) { return scope == FindingScope::fleet ? fleet : host; }
};

/// Which candidates are more than chance, with their q; what remains keeps its facts unresolved in
/// `configurations` of the candidate.
std::vector<Candidate> accepted(Tally tally, const RegressionOptions& options,
                                RegressionReport& report);

/// Fleet or host, whether the newest value alone, and what was measured; a hash that stays the same
/// as nights pass.
std::string finding_id(const ChangeFinding& finding);

}  // namespace bench
