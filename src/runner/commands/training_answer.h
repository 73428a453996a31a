// The training report of train and report training: on stdout, as a page, and as MLPerf logs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/commands/command.h"
#include "runner/commands/report_pages.h"

namespace bench {

struct TrainingAnswer : ReadingOptions {
  PageOptions pages;
  std::string mllog;
  bool include_resumed = false;
};

void add_training_answer(CLI::App& command, TrainingAnswer& options);

/// Reports the runs in these folders; `indexed` tells whether the database has them. Returns the
/// report's exit code.
ExitCode answer_training(const std::vector<std::filesystem::path>& runs, bool indexed,
                         const TrainingAnswer& options);

}  // namespace bench
