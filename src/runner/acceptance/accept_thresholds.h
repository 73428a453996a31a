// --threshold METRIC=SHARE.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/plan/probe_catalogue.h"

namespace bench {

/// By metric. Throws Error(usage) unless METRIC=SHARE with a share between 0 and 1, and for an
/// unknown metric, which would silently have no effect.
std::map<std::string, double> thresholds_from(const std::vector<std::string>& texts,
                                              const ProbeCatalogue& catalogue);

}  // namespace bench
