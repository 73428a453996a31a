// One checkpoint of all ranks, written and read back: what each rank does, and when it counts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/units.h"
#include "probes/group.h"
#include "probes/storage/checkpoint_store.h"
#include "probes/storage/shard_writer.h"

namespace bench::storage {

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
