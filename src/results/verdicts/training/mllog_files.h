// Training logs in MLPerf's layout (result_0.txt, result_1.txt, ...), from events recorded by rank
// 0.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "results/run/run_records.h"

namespace bench {

/// Event of a job whose value is one MLPerf log line as an object (core/mllog.h).
inline constexpr const char* kMllogEvent = "mllog";

struct MllogText {
  std::string job;
  std::string text;      // of the whole file
  std::string trouble;   // reason for skipped lines, or why its times are wrong; "" for none
  bool resumed = false;  // from a checkpoint: it has only the time of the last process
};

/// One per job with such lines, in plan order.
std::vector<MllogText> mllog_texts(std::span<const RunRecords> runs);

/// Writes result_<i>.txt into the folder, which is created if needed. Never overwrites: throws
/// Error(input) naming an existing file before writing anything. Returns the files.
std::vector<std::filesystem::path> write_mllog(const std::filesystem::path& folder,
                                               const std::vector<MllogText>& texts);

}  // namespace bench
