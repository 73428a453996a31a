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
  /// Configurations (before, after) around the change; for a fleet those of many members.
  std::vector<std::pair<std::int64_t, std::int64_t>> configurations = {};
  std::size_t members = 1;
};

/// Tests of one scope. Worse and better are separate families, so improvements do not lend
/// significance to regressions.
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

/// Candidates that are significant, with their q; their facts remain unresolved in
/// `configurations`.
std::vector<Candidate> accepted(Tally tally, const RegressionOptions& options,
                                RegressionReport& report);

/// Hash of scope, kind (newest value or not) and series, stable as nights pass.
std::string finding_id(const ChangeFinding& finding);

}  // namespace bench
