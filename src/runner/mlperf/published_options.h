// Options shared by the commands on published results: paths, selection and round.
#pragma once

#include <string>
#include <vector>

#include "results/mlperf/published/published_reader.h"
#include "runner/commands/command.h"

namespace bench {

struct PublishedOptions {
  std::vector<std::string> paths;
  std::string ruleset = "auto", rcp_dir;
  mlperf::PublishedChoice choice;

  mlperf::SubmissionScoreSettings settings() const;
  /// The selected entries of one path.
  std::vector<mlperf::PublishedEntry> entries_of(const std::string& path) const;
  /// The selected entries of all paths.
  std::vector<mlperf::PublishedEntry> entries() const;
};

/// Adds the paths (one to `most`), --ruleset, --rcp-dir, --benchmark and --where.
void add_published_options(CLI::App& command, PublishedOptions& options, int most);
/// Adds --ruleset and --rcp-dir.
void add_round_options(CLI::App& command, std::string& ruleset, std::string& rcp_dir);

}  // namespace bench
