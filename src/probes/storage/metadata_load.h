// The cost of creating, examining, listing and removing many small files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/units.h"
#include "probes/storage/latency_histogram.h"

namespace bench::storage {

/// create: open a new file and close it; stat: ask for size and times; list: read the whole folder
/// (one operation per file listed); unlink: remove.
inline const std::vector<std::string> kMetadataOperations = {"create", "stat", "list", "unlink"};

struct MetadataResult {
  std::string operation;
  double operations = 0.0;
  Seconds wall = {};              // of the slowest thread
  LatencyHistogram latency = {};  // of single operations; a list is one
};

class MetadataLoad {
 public:
  /// `files` files for each of `threads` threads, each in its own folder under `folder`. Throws
  /// Error(environment).
  MetadataLoad(std::filesystem::path folder, std::int64_t files, int threads);
  /// Removes the folders.
  ~MetadataLoad();
  MetadataLoad(const MetadataLoad&) = delete;
  MetadataLoad& operator=(const MetadataLoad&) = delete;

  /// One of kMetadataOperations; stat, list and unlink need a create before. Throws
  /// Error(environment), also if a list does not contain all files.
  MetadataResult run(const std::string& operation);

 private:
  std::filesystem::path own_folder(int thread) const;

  std::filesystem::path folder_;
  std::int64_t files_;
  int threads_;
};

}  // namespace bench::storage
