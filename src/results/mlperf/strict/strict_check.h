// What the official checker of MLPerf Training does not look at, and what is wrong all the same.
// Errors are runs that cannot stand as they are; warnings differ from the rules' text or need an
// explanation; notes are allowed and worth knowing. None repeats what the official check finds.
#pragma once

#include <vector>

#include "results/mlperf/finding.h"
#include "results/mlperf/strict/subject.h"

namespace bench::mlperf {

/// In the order of sort_findings().
std::vector<Finding> strict_check(const Subject& subject);

/// The rules that strict checks of logs, runs and folders name in their findings.
struct StrictRule {
  std::string_view id;
  std::string_view text;  // what it asks for, one sentence
};
const std::vector<StrictRule>& strict_rules();

}  // namespace bench::mlperf
