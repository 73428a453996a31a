// Retention: thins the raw samples of runs that are old and have ended (results/run/retention.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/units.h"

namespace bench {

struct PruneRule {
  Seconds older{90 * 86400.0};
  std::size_t keep = 20;
  bool dry_run = false;
};

struct Pruned {
  std::vector<std::filesystem::path> runs;  // that changed or would change
  std::size_t series = 0, samples = 0;
  std::int64_t bytes = 0;                    // saved in records.jsonl
  std::vector<std::string> complaints = {};  // runs that could not be pruned, and why
};

/// Records are replaced atomically. Runs in use by another benchctl are skipped with a complaint.
Pruned prune_runs(const std::filesystem::path& runs, const PruneRule& rule, std::int64_t now_ns);

}  // namespace bench
