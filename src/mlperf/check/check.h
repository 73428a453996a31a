// Checks a tree of logs: reads each log once, in parallel on all available cores, and applies the
// official and optionally the strict checks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mlperf/check/check_report.h"
#include "mlperf/score/entry_score.h"
#include "mlperf/submission/submission.h"

namespace bench::mlperf {

struct CheckOptions {
  std::filesystem::path rule_sets = {};  // folder of the rule sets
  std::string rule_set = "auto";         // or a version
  bool strict = true;
  bool warnings_are_errors = false;  // the official checker's --werror
};

/// Never throws because of a log's content. Throws Error(environment) for an unreadable log and
/// Error(input) for an unknown rule set. `runs`: if given, filled for score_runs().
CheckReport check_submission(const Submission& submission, const CheckOptions& options,
                             std::vector<ReadRun>* runs = nullptr);

}  // namespace bench::mlperf
