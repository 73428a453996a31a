// Checks that the official MLPerf Training checker lacks. An error is a run that cannot be
// submitted unchanged; a warning deviates from the rules' text or needs an explanation; a note is
// allowed but worth knowing. No finding repeats one of the official check.
#pragma once

#include <vector>

#include "mlperf/finding.h"
#include "mlperf/strict/subject.h"

namespace bench::mlperf {

/// In the order of sort_findings().
std::vector<Finding> strict_check(const Subject& subject);

/// The rules of the strict checks of logs, runs and folders.
struct StrictRule {
  std::string_view id;
  std::string_view text;  // the requirement, one sentence
};
const std::vector<StrictRule>& strict_rules();

}  // namespace bench::mlperf
