// Rebuilds the results database from the spools and the journal, the primary data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/store.h"

namespace bench {

struct Rebuilt {
  std::size_t runs = 0;
  /// Where a damaged database was moved; empty when there was none.
  std::filesystem::path moved_aside;
  std::vector<std::string> complaints;  // folders that hold no readable run
};

/// A sound database is refilled in one transaction: readers see the old one until the new one is
/// whole. A damaged one is moved aside first ("results.sqlite.corrupt-1", with its -wal and -shm).
/// Throws Error(input) for a newer version or a foreign database, Error(environment) as Store does.
Rebuilt rebuild(const std::filesystem::path& db, const std::filesystem::path& runs_dir,
                const std::filesystem::path& journal, const StoreOptions& options = {});

}  // namespace bench
