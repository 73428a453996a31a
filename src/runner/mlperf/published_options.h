// What the commands on published results share: where the results lie and by which round they
// count.
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
  /// Of one of the paths, what was chosen of it.
  std::vector<mlperf::PublishedEntry> entries_of(const std::string& path) const;
  /// Of all paths.
  std::vector<mlperf::PublishedEntry> entries() const;
};

/// The paths (at least one, at most `most`), --ruleset and --rcp-dir, --benchmark, --where.
void add_published_options(CLI::App& command, PublishedOptions& options, int most);
/// --ruleset and --rcp-dir alone.
void add_round_options(CLI::App& command, std::string& ruleset, std::string& rcp_dir);

}  // namespace bench
