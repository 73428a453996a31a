// What the runs of a result show together with the files beside them: how many there are, and
// whether scaling.json has the factor that they give.
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

/// Reference convergence points by rule set, each read when it is first asked for.
class ReferencePoints {
 public:
  /// nullptr where there are none of this round or benchmark.
  const RcpSet* find(const std::string& rule_set, const std::string& benchmark);

 private:
  std::map<std::string, RcpSets> rounds_;
};

/// Of one entry: `files` and `runs` are its logs' and agree with `entry.logs`.
std::vector<Finding> check_result(const SubmissionEntry& entry, std::span<const FileCheck> files,
                                  std::span<const RunExtract> runs, ReferencePoints& reference);

}  // namespace bench::mlperf
