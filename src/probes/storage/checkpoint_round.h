// One checkpoint of all ranks, written and read back: what each rank does, and when it counts.
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

// The checkpoints in a folder: one folder a step, of which only those with a whole manifest count.

class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path base) : base_(std::move(base)) {}

  /// "BASE/step-000000000012"
  std::filesystem::path folder(std::int64_t step) const;
  /// Makes it, so that its name lasts; several ranks may do so at once. Throws Error(environment).
  std::filesystem::path make_folder(std::int64_t step) const;

  /// Steps that have a folder, whole or not, ascending.
  std::vector<std::int64_t> steps() const;

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

// Reads one rank's part of a checkpoint back and holds every chunk against its checksum.

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
  std::int64_t wrong = 0;                // chunks that could not be read or have another checksum
  std::vector<std::string> faults = {};  // the first ones: file, chunk, bytes, what is wrong
};

/// A file that is missing or short is a fault of all chunks it does not have.
ReadShard read_shard(const ReadRequest& request);

/// Work that may fail on one rank: then it throws Error(environment) with the first reason on all.
void together(Group& group, const std::function<void()>& work);

/// Whether all ranks see one folder: rank 0 makes a file there and the others look.
bool folder_is_shared(Group& group, const std::filesystem::path& folder);

struct CheckpointSetting {
  std::uint64_t bytes = 0;  // of this rank, a multiple of kDirectAlignment
  std::uint64_t chunk_bytes = 8u << 20;
  int threads = 4;
  Access access = Access::direct;
  /// One manifest names the shards of all ranks, and a rank reads another one's. Where ranks do not
  /// share the folder each has a store of its own, with a manifest of its own.
  bool shared = true;
  FileObserver observer = {};
};

ShardRequest shard_request(const CheckpointStore& store, std::int64_t step, int rank,
                           const CheckpointSetting& setting, ChunkSource source);

/// Every rank's shard is whole: makes the checkpoint one. Every rank calls it.
void commit_checkpoint(Group& group, const CheckpointStore& store, std::int64_t step,
                       const CheckpointSetting& setting, const WrittenShard& shard);

struct WrittenCheckpoint {
  Seconds duration = {};      // until the manifest lasts; the slowest rank's
  double bytes = 0.0;         // of all ranks
  double slowest_rank = 0.0;  // bytes per second of the rank with the least, to its own sync
  std::vector<Progress> progress = {};  // of this rank
};
/// The ranks begin together. Throws Error(environment) on all.
WrittenCheckpoint write_checkpoint(Group& group, const CheckpointStore& store, std::int64_t step,
                                   const CheckpointSetting& setting, const ChunkSource& source);

struct ReadCheckpoint {
  Seconds duration = {};  // the slowest rank's
  double bytes = 0.0;     // of all ranks
  double slowest_rank = 0.0;
  std::int64_t wrong = 0;                // chunks, of all ranks
  std::vector<std::string> faults = {};  // at rank 0
  double resident = 0.0;  // largest share of a shard that lay in its reader's page cache before
};
/// Each rank reads the shard of the next one, which its page cache was asked to forget. Faults of
/// the checkpoint are told, not thrown.
ReadCheckpoint read_checkpoint(Group& group, const CheckpointStore& store, std::int64_t step,
                               const CheckpointSetting& setting);

}  // namespace bench::storage
