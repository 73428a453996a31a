// The checkpoints in a folder: one folder a step, of which only those with a whole manifest count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "probes/storage/manifest.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {

class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path base) : base_(std::move(base)) {}

  /// "BASE/step-000000000012"
  std::filesystem::path folder(std::int64_t step) const;
  /// Makes it, so that its name lasts; several ranks may do so at once. Throws Error(environment).
  std::filesystem::path make_folder(std::int64_t step) const;

  /// Steps that have a folder, whole or not, ascending.
  std::vector<std::int64_t> steps() const;

  struct Found {
    std::int64_t step = 0;
    Manifest manifest;
    std::vector<std::string> passed_over;  // newer ones, and why they do not count
  };
  /// The newest one that can be loaded: its manifest is whole and every shard is there in full
  /// length. What the shards hold is for read_shard() to say.
  std::optional<Found> newest_whole() const;

  /// Removes all but the newest `keep` steps up to `newest`, and those past `newest`, which
  /// were never whole or are given up.
  void prune(std::int64_t newest, int keep, const FileObserver& observer = {}) const;

  /// Removes this one, the manifest before its shards.
  void remove(std::int64_t step, const FileObserver& observer = {}) const;

  const std::filesystem::path& base() const { return base_; }

 private:
  std::filesystem::path base_;
};

/// "rank-00003.shard"
std::string shard_name(int rank);

/// The first thing that is wrong with the shards of this manifest by their length; "" where all are
/// there.
std::string missing_shard(const std::filesystem::path& folder, const Manifest& manifest);

}  // namespace bench::storage
