// Many repeats of one case in a single row: a suite may ask for a thousand, and nobody reads a
// thousand equal rows.
#pragma once

#include <vector>

#include "results/reports/dimensions.h"

namespace bench {

/// Results that differ in nothing but the repeat become one when there are more than six of them
/// and all are ok: its samples are the medians of the repeats, and its parameter "repeats" says how
/// many. The others stay as they are, in their order.
std::vector<Result> fold_repeats(const Rows& rows);

}  // namespace bench
