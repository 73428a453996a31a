// What a training that resumes would load: the newest checkpoint with a valid manifest and every
// shard present in full length.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "probes/storage/checkpoint_round.h"

namespace bench::storage {

struct FoundCheckpoint {
  std::int64_t step = 0;
  Manifest manifest = {};
  std::vector<std::string> passed_over = {};  // newer ones, and why they do not count
};

inline std::string missing_shard(const std::filesystem::path& folder, const Manifest& manifest) {
  for (const ShardEntry& shard : manifest.shards) {
    std::error_code failure;
    const auto bytes = std::filesystem::file_size(folder / shard.file, failure);
    if (failure || bytes != shard.bytes) return (folder / shard.file).string();
  }
  return "";
}

inline std::optional<FoundCheckpoint> newest_whole(const CheckpointStore& store) {
  FoundCheckpoint found;
  const std::vector<std::int64_t> steps = store.steps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      found.step = *step;
      found.manifest = read_manifest(store.folder(*step));
      const std::string missing = missing_shard(store.folder(*step), found.manifest);
      if (missing.empty()) return found;
      found.passed_over.push_back(missing);
    } catch (const Error& error) {
      found.passed_over.push_back(error.what());
    }
  }
  return {};
}

}  // namespace bench::storage
