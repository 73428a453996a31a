// --threshold METRIC=SHARE.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/plan/probe_catalogue.h"

namespace bench {

/// By metric. Throws Error(usage) for what is not METRIC=SHARE with a share between 0 and 1, and
/// for a metric that nothing measures: it would change nothing, silently.
std::map<std::string, double> thresholds_from(const std::vector<std::string>& texts,
                                              const ProbeCatalogue& catalogue);

}  // namespace bench
