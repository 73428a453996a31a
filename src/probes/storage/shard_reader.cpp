#include "probes/storage/shard_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "core/error.h"
#include "probes/host_clock.h"
#include "probes/storage/aligned_buffer.h"
#include "probes/storage/crc32c.h"
#include "probes/storage/synthetic_state.h"

namespace bench::storage {
namespace {

constexpr std::size_t kMostFaults = 20;

class ShardReading {
 public:
  explicit ShardReading(const ReadRequest& request) : request_(request) {}

  ReadShard run() {
    const Seconds begin = steady_now();
    try {
      file_.emplace(request_.folder / request_.shard.file, request_.access, OpenFor::reading);
      const std::uint64_t bytes = file_->bytes();
      if (bytes != request_.shard.bytes)
        add_fault(fmt::format("{} has {} bytes, the manifest says {}", name(), bytes,
                              request_.shard.bytes),
                  bytes > request_.shard.bytes ? 1 : 0);
      std::vector<std::jthread> threads;
      for (int thread = 1; thread < request_.threads; ++thread)
        threads.emplace_back([this] { read_chunks(); });
      read_chunks();
    } catch (const Error& error) {
      add_fault(error.what(), static_cast<std::int64_t>(request_.shard.checksums.size()));
    }
    result_.wall = steady_now() - begin;
    return std::move(result_);
  }

 private:
  std::string name() const { return (request_.folder / request_.shard.file).string(); }

  void add_fault(const std::string& text, std::int64_t chunks) {
    const std::lock_guard lock(mutex_);
    result_.wrong += chunks;
    if (result_.faults.size() < kMostFaults) result_.faults.push_back(text);
  }

  void read_chunks() {
    AlignedBuffer buffer(std::min(request_.chunk_bytes, request_.shard.bytes));
    const auto chunks = static_cast<std::int64_t>(request_.shard.checksums.size());
    for (std::int64_t chunk = next_++; chunk < chunks; chunk = next_++) {
      const auto into =
          buffer.all().first(bytes_of_chunk(request_.shard.bytes, request_.chunk_bytes, chunk));
      try {
        read_chunk(chunk, into);
      } catch (const Error& error) {
        add_fault(error.what(), 1);
      }
    }
  }

  void read_chunk(std::int64_t chunk, std::span<std::byte> into) {
    const std::uint64_t offset = static_cast<std::uint64_t>(chunk) * request_.chunk_bytes;
    file_->read(into, offset);
    const std::uint32_t found = crc32c(into);
    const std::uint32_t expected = request_.shard.checksums[static_cast<std::size_t>(chunk)];
    if (found != expected)
      add_fault(fmt::format("{}: chunk {} (bytes {} to {}) has checksum {:08x}, the manifest "
                            "says {:08x}",
                            name(), chunk, offset, offset + into.size() - 1, found, expected),
                1);
    const std::lock_guard lock(mutex_);
    result_.bytes += static_cast<double>(into.size());
  }

  const ReadRequest& request_;
  std::optional<StorageFile> file_ = {};
  std::atomic<std::int64_t> next_ = 0;
  std::mutex mutex_ = {};
  ReadShard result_ = {};
};

}  // namespace

ReadShard read_shard(const ReadRequest& request) { return ShardReading(request).run(); }

}  // namespace bench::storage
