// Words that a ladder's text and page share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/compare/ladder.h"

namespace bench {

/// "x 1.234 [1.2, 1.3]"; "" if unknown.
std::string speed_up_text(const SpeedUp& speed_up);
/// "driver: 550 to 560; and 3 more": at most `shown` of them.
std::string changes_text(const std::vector<FactChange>& changes, std::size_t shown);
/// The metric with its parameters.
std::string ladder_title(const LadderMetric& metric);

}  // namespace bench
