// Selects the logs to submit: as many as the benchmark requires; of more, the N consecutive ones by
// launch time with the median score (MLPerf training rules, "Run Results").
#pragma once

#include <string>
#include <vector>

#include "results/mlperf/package/package.h"
#include "results/mlperf/score/submission_score.h"

namespace bench::mlperf {

struct ChosenLogs {
  std::vector<PackagedLog> logs;      // in launch order if some were skipped
  std::vector<std::string> left_out;  // PackagedLog::from
};

/// `score`: of an entry with these logs as its runs, in this order.
ChosenLogs chosen_logs(const std::vector<PackagedLog>& logs, const EntryScore& score);

/// Open tasks from the score: missing or failed runs, an unknown benchmark, twins on generated
/// data.
std::vector<TodoItem> todo_items(const EntryScore& score, const std::vector<PackagedLog>& logs);

}  // namespace bench::mlperf
