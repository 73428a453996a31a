// Writes one rank's part of a checkpoint so that it has its name only when it is whole and on its
// device: under another name first, aligned chunks at their offsets by several threads, a checksum
// of each, sync, rename, sync of the folder.
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
  std::uint64_t chunk_bytes = 8u << 20;  // another
  int threads = 4;                       // that make checksums and write, each a chunk at a time
  Access access = Access::direct;
  ChunkSource source = {};
  FileObserver observer = {};
};

/// When so many bytes had been written, since the beginning of the shard.
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

/// Throws Error(environment); what was written under the other name is then removed.
WrittenShard write_shard(const ShardRequest& request);

}  // namespace bench::storage
