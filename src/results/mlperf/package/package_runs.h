// Which of the logs at hand are submitted: as many as the benchmark takes, and of more those N in a
// row by the time of their launch whose score is the median (MLPerf training rules, "Run Results").
#pragma once

#include <string>
#include <vector>

#include "results/mlperf/package/package.h"
#include "results/mlperf/score/submission_score.h"

namespace bench::mlperf {

struct ChosenLogs {
  std::vector<PackagedLog> logs;      // in the order of their launch where some were left out
  std::vector<std::string> left_out;  // PackagedLog::from
};

/// `score`: of an entry whose runs are these logs, in their order.
ChosenLogs chosen_logs(const std::vector<PackagedLog>& logs, const EntryScore& score);

/// What the score says that a person must still see to: runs that are missing or failed, a
/// benchmark that no round has, twins on generated data.
std::vector<TodoItem> todo_items(const EntryScore& score, const std::vector<PackagedLog>& logs);

}  // namespace bench::mlperf
