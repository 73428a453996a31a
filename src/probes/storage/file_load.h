// Reads or writes one file for some time: blocks in sequential or random order, by several threads
// with several operations in flight each. Counts durable or delivered bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/units.h"
#include "probes/shared/permutation.h"
#include "probes/storage/load_result.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {

/// In which order the blocks of a file are visited; random: each once.
enum class Order { sequential, random };

class BlockOrder {
 public:
  /// Of `count` blocks, at least one.
  BlockOrder(Order order, std::uint64_t count, std::uint64_t seed)
      : order_(order), count_(count), random_(count, seed) {}

  /// The block of visit `visit`. After `count` visits each block was visited once, and the order
  /// begins again.
  std::uint64_t at(std::uint64_t visit) const {
    return order_ == Order::sequential ? visit % count_ : random_.at(visit % count_);
  }
  std::uint64_t count() const { return count_; }

 private:
  Order order_;
  std::uint64_t count_;
  Permutation random_;
};

enum class Direction { read, write };

struct LoadRequest {
  std::filesystem::path file;
  Direction direction = Direction::read;
  Order order = Order::sequential;
  Access access = Access::direct;
  std::uint64_t block_bytes = 1 << 20;  // a multiple of kBlockBytes
  std::uint64_t file_bytes = 0;         // only whole blocks of each thread are used
  int threads = 1;
  int depth = 1;                // in flight per thread; more than one needs Access::direct
  std::int64_t sync_every = 0;  // operations of a thread between two syncs; 0: none
  bool once = false;            // each block at most once, because then it is in the page cache
  Seconds duration = {5.0};
  Seconds slice = {0.25};
  std::uint64_t seed = 1;
  /// Called before each operation of a thread, with its number; tests delay operations here.
  std::function<void(std::uint64_t visit)> observer = {};
};

class FileLoad {
 public:
  /// Opens and allocates. A file to be read must come from make_load_file(). Throws
  /// Error(environment).
  explicit FileLoad(const LoadRequest& request);
  ~FileLoad();
  FileLoad(const FileLoad&) = delete;
  FileLoad& operator=(const FileLoad&) = delete;

  /// Written bytes count when their sync has returned; with sync_every = 1 the sync is part of an
  /// operation. Call once. Throws the Error(environment) of a thread that failed.
  LoadResult run();

 private:
  class Worker;
  LoadRequest request_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// The request size in which a file is laid out. It decides how fast single blocks are written
/// later: a virtual disk took random writes of 4 KiB at 110 k/s, 82 k/s and 37 k/s after a layout
/// in requests of 256 KiB, 1 MiB and 4 MiB.
inline constexpr std::size_t kLaidDownBytes = 1u << 20;

/// Writes the blocks of such a file and syncs it.
void make_load_file(const std::filesystem::path& path, std::uint64_t bytes, Access access,
                    std::uint64_t seed);

}  // namespace bench::storage
