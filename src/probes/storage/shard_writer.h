// Writes one rank's part of a checkpoint atomically: aligned chunks with checksums to a temporary
// name by several threads, sync, rename, sync of the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/units.h"
#include "probes/storage/random_blocks.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {

inline constexpr const char* kUnfinished = ".unfinished";

struct ShardRequest {
  std::filesystem::path file;
  std::uint64_t bytes = 0;               // a multiple of kDirectAlignment
  std::uint64_t chunk_bytes = 8u << 20;  // likewise
  int threads = 4;                       // each makes the checksum of a chunk and writes it
  Access access = Access::direct;
  ChunkSource source = {};
  FileObserver observer = {};
};

/// The bytes written until a time since the start of the shard.
struct Progress {
  Seconds time;
  double bytes = 0.0;
};

struct WrittenShard {
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> checksums = {};  // CRC-32C of each chunk
  std::vector<Progress> progress = {};        // ascending
  Seconds written = {};                       // all chunks
  Seconds durable = {};                       // synced, renamed, its folder synced
};

/// Throws Error(environment); then the temporary file is removed.
WrittenShard write_shard(const ShardRequest& request);

}  // namespace bench::storage
