// Histories, put together into groups of peers.
#pragma once

#include <functional>
#include <vector>

#include "results/regression/candidate.h"

namespace bench {

/// Visits the series of each metric, params, unit, number of ranks and kind of device, one group in
/// memory at a time, over all hosts regardless of the selection. Throws Error as Histories does.
void each_group(const Histories& histories, const RegressionOptions& options,
                const std::function<void(const std::vector<Member>&)>& take);

}  // namespace bench
