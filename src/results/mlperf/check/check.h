// From a tree of logs to the verdict on them: each log read once, on all the cores this process may
// use, judged as the official checker judges it and, if asked, by the strict checks.
#pragma once

#include <filesystem>
#include <string>

#include "results/mlperf/check/check_report.h"
#include "results/mlperf/submission/submission.h"

namespace bench::mlperf {

struct CheckOptions {
  std::filesystem::path rule_sets = {};  // the folder they lie in
  std::string rule_set = "auto";         // or a version
  bool strict = true;
  bool warnings_are_errors = false;  // the official checker's --werror
};

/// Never throws for what a log contains. Throws Error(environment) for one that cannot be read,
/// Error(input) for a rule set that is not there.
CheckReport check_submission(const Submission& submission, const CheckOptions& options);

}  // namespace bench::mlperf
