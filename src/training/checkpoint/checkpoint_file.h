// The format of a checkpoint: named arrays and a JSON value, with a hash of everything.
//
//   offset 0   "BENCHCKP"
//          8   u32 version (1)
//         12   u32 bytes of the header
//         16   u64 content_hash of the header
//         24   header, JSON: {"meta": ..., "sections": [{"name", "dtype", "rows", "columns",
//              "offset", "hash"}, ...]}
//   each section's elements at its offset (a multiple of 64), in the order of the header; the file
//   ends with the last one.
//
// Numbers are little-endian. Files are untrusted: everything is checked before use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "training/checkpoint/atomic_file.h"
#include "training/kernels/memory.h"

namespace bench::training {

constexpr std::string_view kCheckpointMagic = "BENCHCKP";
constexpr std::uint32_t kCheckpointVersion = 1;
constexpr std::uint64_t kCheckpointFront = 24;  // bytes before the header
constexpr std::uint64_t kSectionAlignment = 64;

constexpr std::uint64_t aligned_section(std::uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

/// Writes `path` atomically and returns its bytes. Names must differ. Throws Error(environment).
std::uint64_t write_checkpoint(const std::filesystem::path& path, const Json& meta,
                               const std::vector<NamedView>& sections,
                               const FileObserver& observer = {});

class CheckpointFile {
 public:
  struct Section {
    std::string name;
    Dtype dtype = Dtype::f32;
    std::int64_t rows = 0, columns = 0;
    std::uint64_t offset = 0, bytes = 0, hash = 0;
  };

  /// `bytes` must outlive this; `name` is for errors. Throws Error(input), naming file and offset,
  /// for a file that is not a checkpoint, of another version, truncated, or with a damaged header.
  CheckpointFile(std::span<const std::byte> bytes, std::string name);

  const Json& meta() const { return meta_; }
  const std::vector<Section>& sections() const { return sections_; }
  /// A section's bytes. Throws Error(input) if their hash differs from the header's.
  std::span<const std::byte> content(const Section& section) const;
  /// Copies the section of that name. Throws Error(input) if there is none of this name, type and
  /// shape, or it is damaged.
  void read(const NamedView& into) const;

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
  Json meta_ = {};
  std::vector<Section> sections_ = {};
};

}  // namespace bench::training
