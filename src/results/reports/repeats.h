// Folds many repeats of a case into one row.
#pragma once

#include <vector>

#include "results/reports/dimensions.h"

namespace bench {

/// Folds more than six ok results that differ only in the repeat into one: its samples are the
/// medians of the repeats, its parameter "repeats" their number. Other results stay, in order.
std::vector<Result> fold_repeats(const Rows& rows);

}  // namespace bench
