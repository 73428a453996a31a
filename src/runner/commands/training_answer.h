// The report of trainings, for train and for report training: on stdout, as a page, as MLPerf's
// logs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/commands/command.h"

namespace bench {

struct TrainingAnswer : ReadingOptions {
  std::string html;
  std::string mllog;
};

void add_training_answer(CLI::App& command, TrainingAnswer& options);

/// Of the kept runs in these folders, which the database has or, said so already, has not. Returns
/// the report's exit code.
ExitCode answer_training(const std::vector<std::filesystem::path>& runs, bool indexed,
                         const TrainingAnswer& options);

}  // namespace bench
