// Lines that a section derives from several others before checking.
#pragma once

#include <vector>

#include "results/mlperf/log/log.h"
#include "results/mlperf/rules/rule_set.h"

namespace bench::mlperf {

/// Throws OfficialCrash if a line lacks the key to collect by.
std::vector<LogEntry> collected_lines(const std::vector<LogEntry>& lines,
                                      const Collection& collection);

}  // namespace bench::mlperf
