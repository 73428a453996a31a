// Checks and scores a submission of MLPerf Storage 2.0 or 3.0 (storage_tree.h), by its rules and by
// what its files say of each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "mlperf/storage/storage_score.h"
#include "mlperf/storage/storage_subject.h"
#include "mlperf/storage/storage_tree.h"

namespace bench::mlperf::storage {

struct WorkloadReport {
  Workload workload;
  std::vector<LocatedFinding> findings = {};  // errors first, then by rule and path
  StorageScore score = {};
};

struct StorageReport {
  std::filesystem::path root = {};
  int round = 3;
  std::string round_reason = {};
  Edition edition = Edition::closed_round;
  bool reads_descriptions = false;  // a build without yaml-cpp cannot
  std::vector<WorkloadReport> workloads = {};
  std::vector<LocatedFinding> findings = {};  // of the tree: systems without results, and so on
};

struct StorageCounts {
  std::size_t workloads = 0, clean = 0;  // clean: without an error
  std::size_t errors = 0, warnings = 0, notes = 0;
};
StorageCounts counts_of(const StorageReport& report);

/// `round`: 2 or 3, nothing to guess it. Never throws because of a file's content. Throws
/// Error(environment) for unreadable folders.
StorageReport check_storage(const Tree& tree, std::optional<int> round, Edition edition);

/// schemas/report_mlperf_storage.json
Json to_json(const StorageReport& report);

}  // namespace bench::mlperf::storage
