// The subcommands of `benchctl mlperf`, each in its own file.
#pragma once

#include <string>
#include <vector>

#include "results/verdicts/published/published_entry.h"
#include "runner/commands/command.h"

namespace bench {

// Options shared by the commands on published results: paths, selection and round.

struct PublishedOptions {
  std::vector<std::string> paths;
  mlperf::SubmissionScoreSettings settings;
  mlperf::PublishedChoice choice;

  /// The selected entries of one path.
  std::vector<mlperf::PublishedEntry> entries_of(const std::string& path) const;
  /// The selected entries of all paths.
  std::vector<mlperf::PublishedEntry> entries() const;
};

/// Adds the paths (one to `most`), --ruleset, --rcp-dir, --benchmark and --where.
void add_published_options(CLI::App& command, PublishedOptions& options, int most);
/// Adds --ruleset and --rcp-dir.
void add_round_options(CLI::App& command, mlperf::SubmissionScoreSettings& settings);

void add_mlperf_check(CLI::App& mlperf, CommandResult& result);
void add_mlperf_score(CLI::App& mlperf, CommandResult& result);
void add_mlperf_scaling(CLI::App& mlperf, CommandResult& result);
void add_mlperf_compare(CLI::App& mlperf, CommandResult& result);
void add_mlperf_package(CLI::App& mlperf, CommandResult& result);
void add_mlperf_rules(CLI::App& mlperf, CommandResult& result);
void add_mlperf_explain(CLI::App& mlperf, CommandResult& result);
void add_mlperf_storage(CLI::App& mlperf, CommandResult& result);

}  // namespace bench
