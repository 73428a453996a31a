// Reads one rank's part of a checkpoint back and holds every chunk against its checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/units.h"
#include "probes/storage/manifest.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {

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

}  // namespace bench::storage
