// Runs as one tidy table (one row a value, one column a variable), for data frames and
// spreadsheets.
#pragma once

#include <string>
#include <vector>

#include "results/run/run_summary.h"

namespace bench {

/// RFC 4180 with a header: the columns of every run, then label.NAME for each label of the runs and
/// param.NAME for each parameter of their jobs and series. Rows without a label or parameter have
/// an empty cell there, and so has a missing value. Parameters that are objects or lists are JSON
/// text.
std::string to_tidy_csv(const std::vector<RunSummary>& runs);

}  // namespace bench
