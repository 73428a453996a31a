#include "results/mlperf/package/package_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace bench::mlperf {
namespace {

/// The line with which `benchctl train` marks a twin (docs/training.md).
bool is_twin_log(const PackagedLog& log) {
  return log.text.find("\"key\": \"benchctl_twin\"") != std::string::npos;
}

}  // namespace

ChosenLogs chosen_logs(const std::vector<PackagedLog>& logs, const EntryScore& score) {
  ChosenLogs chosen;
  if (!score.window || score.runs.size() != logs.size()) return {logs, {}};
  for (const std::size_t run : score.window->runs) chosen.logs.push_back(logs.at(run));
  for (std::size_t i = 0; i < logs.size(); ++i)
    if (std::ranges::find(score.window->runs, i) == score.window->runs.end())
      chosen.left_out.push_back(logs[i].from);
  return chosen;
}

std::vector<TodoItem> todo_items(const EntryScore& score, const std::vector<PackagedLog>& logs) {
  std::vector<TodoItem> found;
  if (std::ranges::any_of(logs, is_twin_log))
    found.push_back({"the logs",
                     "they are from a twin on generated data, which no MLPerf division accepts: "
          "train the benchmark itself"});
  for (const std::string& problem : score.problems)
    found.push_back({"results/" + score.system + "/" + score.benchmark, printable(problem)});
  return found;
}

}  // namespace bench::mlperf
