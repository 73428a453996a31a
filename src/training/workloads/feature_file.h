// Features of a graph's nodes in a memory-mapped file, of which each sample gathers a few rows. The
// file is generated once and reused by later runs, as a data set would be.
//
//   offset 0   "BENCHFTR"
//          8   u32 version (1)
//         12   u32 columns
//         16   u64 rows
//         24   u64 identity: what decides the values, as a hash
//         32   rows x columns of f32
//   then       u64 content_hash of each block of block_rows() rows
//   then       u64 content_hash of the first 32 bytes and the hashes before it
//
// Numbers are little-endian.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "training/sources/mapped_file.h"

namespace bench::training {

struct FeatureTable {
  std::uint64_t rows = 0;
  std::uint32_t columns = 0;
  std::uint64_t identity = 0;
  /// Writes one row; called by several threads.
  std::function<void(std::uint64_t row, std::span<float> out)> make = {};

  std::uint64_t row_bytes() const { return std::uint64_t{columns} * sizeof(float); }
};

class FeatureFile {
 public:
  /// The file "NAME-IDENTITY.features" of the folder `cache`, generated if it is not there: only
  /// then is anything written. Processes of a host that want the same file at once wait for the
  /// first; where files cannot be locked, each generates it, and the last one's stays. With an
  /// empty `cache` it is a new file without a name. All of it is read and verified, and
  /// kComparedRows of it are generated again. Throws Error(input), saying what is wrong, for a file
  /// that is damaged, truncated, another one or of another version, and Error(environment) if none
  /// can be looked for or written. Such a file is never replaced: another process may have it
  /// mapped.
  static FeatureFile open(const std::filesystem::path& cache, const std::string& name,
                          const FeatureTable& table);

  std::span<const float> row(std::uint64_t row) const {
    return {features_ + row * columns_, columns_};
  }
  /// Where it is, or was.
  const std::string& path() const { return file_.path(); }

 private:
  FeatureFile(MappedFile file, const FeatureTable& table);

  MappedFile file_;
  std::size_t columns_;
  const float* features_;
};

/// Spread evenly over all rows, so that each type of nodes has some.
inline constexpr std::uint64_t kComparedRows = 256;

/// Of a block that has a hash: some 256 KiB.
std::uint64_t block_rows(const FeatureTable& table);

}  // namespace bench::training
