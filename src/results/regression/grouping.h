// Histories, put together into groups of peers.
#pragma once

#include <functional>
#include <vector>

#include "results/regression/candidate.h"

namespace bench {

/// Series of one metric, params, unit, number of ranks and kind of device, which a database hands
/// out one after the other; one group is held at a time. Of all hosts,
/// whatever the selection says. Throws Error as Histories does.
void each_group(const Histories& histories, const RegressionOptions& options,
                const std::function<void(const std::vector<Member>&)>& take);

}  // namespace bench
