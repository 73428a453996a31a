// The manifest of a checkpoint: its files and the checksum of each chunk. It is written last, so a
// folder without a valid manifest holds no checkpoint. One line of JSON:
//   {"crc32c": "e3069283", "manifest": {"chunk_bytes": ..., "format": 1, "shards": [{"bytes": ...,
//    "checksums": "8 hexadecimal digits a chunk", "file": "rank-00000.shard"}, ...], "step": ...}}
// where crc32c is that of the text of `manifest` with keys sorted and without white space.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {

inline constexpr const char* kManifestName = "manifest.json";

struct ShardEntry {
  std::string file;  // a plain name in the checkpoint's folder
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> checksums = {};  // CRC-32C of each chunk
};

struct Manifest {
  std::int64_t step = 0;
  std::uint64_t chunk_bytes = 0;
  std::vector<ShardEntry> shards = {};
};

Json to_json(const ShardEntry& entry);
/// Throws Error(input).
ShardEntry shard_entry_from(const Json& json, std::uint64_t chunk_bytes, const std::string& origin);

std::string manifest_text(const Manifest& manifest);
/// For untrusted text. Throws Error(input) with `origin` if it is truncated, modified or invalid.
Manifest parse_manifest(std::string_view text, const std::string& origin);
/// Throws Error(environment) if it cannot be read, Error(input) as above.
Manifest read_manifest(const std::filesystem::path& folder);

/// Writes it to a temporary name, syncs, renames and syncs the folder; then the checkpoint is
/// complete. Throws Error(environment).
void commit_manifest(const std::filesystem::path& folder, const Manifest& manifest,
                     const FileObserver& observer = {});

}  // namespace bench::storage
