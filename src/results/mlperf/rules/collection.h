// Lines that a section makes of several others before it looks at any.
#pragma once

#include <vector>

#include "results/mlperf/log/log.h"
#include "results/mlperf/rules/rule_set.h"

namespace bench::mlperf {

/// Throws OfficialCrash where a line lacks what it is collected by.
std::vector<LogEntry> collected_lines(const std::vector<LogEntry>& lines,
                                      const Collection& collection);

}  // namespace bench::mlperf
