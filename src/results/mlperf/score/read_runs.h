// Logs to what their score needs, on all cores.
#pragma once

#include <string>
#include <vector>

#include "results/mlperf/score/entry_score.h"
#include "results/mlperf/submission/submission.h"

namespace bench::mlperf {

/// One for each log of the submission, entries' first, in their order. `ruleset`: a round, or
/// "auto": then all are of one round, the newest that a log of them is of by its benchmark and its
/// day, among those rounds that have all the benchmarks that the submitters' folders are named
/// after. (A submission may hold results of an earlier round.) Throws Error(input) for a round that
/// is not known.
std::vector<ReadRun> read_runs(const Submission& submission, const std::string& ruleset);

}  // namespace bench::mlperf
