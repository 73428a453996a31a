// The smallest complete submissions of MLPerf Storage, one of each category, with known scores.
// Tests break one thing at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/json.h"
#include "mlperf/storage/storage_check.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf::storage {

class MadeSubmission {
 public:
  /// closed/Acme/systems/sys1.{yaml,pdf}
  MadeSubmission();
  /// Replaces the description by one of so many clients.
  void describe(int clients);

  /// retinanet on one host with 4 accelerators of 1 GiB: 48,000 files. 500 samples/s in each of six
  /// runs, but 400 in the first one.
  void add_training();
  /// resnet50 for h100 in 2025, as mlpstorage 2.0 left it: 640 files, 4,000 samples/s.
  void add_training_of_round_2();
  /// llama3-8b by eight processes on one host, in one invocation: 104.7 GiB/s each way.
  void add_checkpointing();
  /// A part of llama3-70b by eight processes in 2025.
  void add_checkpointing_of_round_2();
  /// llama3-8b in two invocations, ten seconds apart.
  void add_split_checkpointing();
  /// Two ranks, three trials: 2 GiB/s read, 1 GiB/s written in each option.
  void add_kv_cache();
  /// Milvus with HNSW, five runs of 1,000 queries/s, recall 0.9.
  void add_vector_database();

  const std::filesystem::path& root() const { return directory_.path(); }
  /// closed/Acme/results/sys1/...
  std::filesystem::path results(const std::string& below = "") const;
  /// The folders of runs, by name.
  std::vector<std::filesystem::path> runs(const std::string& workload) const;
  /// The only *_metadata.json of a folder.
  std::filesystem::path metadata(const std::filesystem::path& leaf) const;

  StorageReport report(Edition edition = Edition::current) const;
  /// Rules of all findings that are no notes, in order, each once: "2.1.17 3.3.2".
  std::string broken(Edition edition = Edition::current) const;

 private:
  TemporaryDirectory directory_;
};

/// A description of a system, as YAML.
std::string description(const std::string& name, int clients);

/// Changes a JSON file in place.
void change(const std::filesystem::path& file, const std::function<void(Json&)>& how);

}  // namespace bench::mlperf::storage
