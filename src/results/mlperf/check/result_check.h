// Checks of a whole result: the number of runs, and whether scaling.json has the factor computed
// from them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/mlperf/check/check_report.h"
#include "results/mlperf/finding.h"
#include "results/mlperf/rcp/rcp_files.h"
#include "results/mlperf/rules/rule_set.h"
#include "results/mlperf/strict/runs_check.h"
#include "results/mlperf/submission/submission.h"

namespace bench::mlperf {

/// Reference convergence points by rule set, loaded on first use.
class ReferencePoints {
 public:
  /// nullptr if there are none for this round or benchmark.
  const RcpSet* find(const std::string& rule_set, const std::string& benchmark);

 private:
  std::map<std::string, RcpSets> rounds_;
};

/// `files` and `runs` correspond to `entry.logs`.
std::vector<Finding> check_result(const SubmissionEntry& entry, std::span<const FileCheck> files,
                                  std::span<const RunExtract> runs, ReferencePoints& reference);

}  // namespace bench::mlperf
