// The logs of trainings as MLPerf's layout has them: result_0.txt, result_1.txt, ..., from the
// events that rank 0 told while it trained.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "results/run_records.h"

namespace bench {

/// Event of a job whose value is one line of MLPerf's log as an object (core/mllog.h).
inline constexpr const char* kMllogEvent = "mllog";

struct MllogText {
  std::string job;
  std::string text;     // of the whole file
  std::string trouble;  // of the lines that were left out; "" for none
};

/// One for each job that told such lines, in the order of the plan.
std::vector<MllogText> mllog_texts(std::span<const RunRecords> runs);

/// Writes result_<i>.txt into the folder, which is made where there is none. Nothing that is there
/// is replaced: throws Error(input) naming it, before anything is written. Returns the files.
std::vector<std::filesystem::path> write_mllog(const std::filesystem::path& folder,
                                               const std::vector<MllogText>& texts);

}  // namespace bench
