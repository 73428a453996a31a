// One checkpoint of all ranks: written, committed and read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "devices/group.h"
#include "probes/storage/manifest.h"
#include "probes/storage/shard_writer.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {

/// The checkpoints in a folder: one folder per step. Only those with a valid manifest are complete.
class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path base) : base_(std::move(base)) {}

  /// "BASE/step-000000000012"
  std::filesystem::path folder(std::int64_t step) const;
  /// Creates it durably; several ranks may do so at once. Throws Error(environment).
  std::filesystem::path make_folder(std::int64_t step) const;

  /// Steps that have a folder, complete or not, ascending.
  std::vector<std::int64_t> steps() const;

  /// Removes all but the newest `keep` steps up to `newest`, and all steps past `newest`, which
  /// were not completed or are abandoned.
  void prune(std::int64_t newest, int keep, const FileObserver& observer = {}) const;

  /// Removes the manifest of this step first, then its shards.
  void remove(std::int64_t step, const FileObserver& observer = {}) const;

  const std::filesystem::path& base() const { return base_; }

 private:
  std::filesystem::path base_;
};

/// "rank-00003.shard"
std::string shard_name(int rank);

struct ReadRequest {
  std::filesystem::path folder;
  ShardEntry shard = {};
  std::uint64_t chunk_bytes = 0;
  int threads = 4;
  Access access = Access::direct;
};

struct ReadShard {
  double bytes = 0.0;
  Seconds wall = {};
  std::int64_t wrong = 0;                // chunks that are unreadable or have another checksum
  std::vector<std::string> faults = {};  // the first ones: file, chunk, bytes, reason
};

/// Reads one rank's shard and verifies the checksum of every chunk. In a missing or short file all
/// missing chunks are wrong.
ReadShard read_shard(const ReadRequest& request);

/// Whether all ranks see the same folder: rank 0 creates a file there and the others look for it.
bool folder_is_shared(Group& group, const std::filesystem::path& folder);

struct CheckpointSetting {
  std::uint64_t bytes = 0;  // of this rank, a multiple of kDirectAlignment
  std::uint64_t chunk_bytes = 8u << 20;
  int threads = 4;
  Access access = Access::direct;
  /// One manifest lists the shards of all ranks, and each rank reads another one's. If ranks do not
  /// share the folder, each has its own store and manifest.
  bool shared = true;
  FileObserver observer = {};
};

ShardRequest shard_request(const CheckpointStore& store, std::int64_t step, int rank,
                           const CheckpointSetting& setting, ChunkSource source);

/// Commits a checkpoint of which every rank has written its shard. Every rank calls it.
void commit_checkpoint(Group& group, const CheckpointStore& store, std::int64_t step,
                       const CheckpointSetting& setting, const WrittenShard& shard);

struct WrittenCheckpoint {
  Seconds duration = {};                // until the manifest is durable; of the slowest rank
  double bytes = 0.0;                   // of all ranks
  double slowest_rank = 0.0;            // bytes per second of the slowest rank, to its own sync
  std::vector<Progress> progress = {};  // of this rank
};
/// The ranks start together. Throws Error(environment) on all.
WrittenCheckpoint write_checkpoint(Group& group, const CheckpointStore& store, std::int64_t step,
                                   const CheckpointSetting& setting, const ChunkSource& source);

struct ReadCheckpoint {
  Seconds duration = {};  // of the slowest rank
  double bytes = 0.0;     // of all ranks
  double slowest_rank = 0.0;
  std::int64_t wrong = 0;                // chunks, of all ranks
  std::vector<std::string> faults = {};  // at rank 0
  double resident = 0.0;  // largest share of a shard that was in its reader's page cache before
};
/// Each rank reads the shard of the next one after dropping it from the page cache. Faults of the
/// checkpoint are returned, not thrown.
ReadCheckpoint read_checkpoint(Group& group, const CheckpointStore& store, std::int64_t step,
                               const CheckpointSetting& setting);

}  // namespace bench::storage
