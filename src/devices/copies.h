// Copies between host memory (pinned or pageable, on any NUMA node), device memory and the memory
// of peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/names.h"
#include "core/record.h"

namespace bench {

/// `both` is one copy each way at the same time; `inside` stays in device memory; peers are other
/// devices of this host, written to or read from by this one.
enum class CopyRoute { host_to_device, device_to_host, both, inside, peer_write, peer_read };
enum class HostMemory { pinned, pageable };

inline constexpr NameTable<CopyRoute, 6> kCopyRoutes{
    {{{CopyRoute::host_to_device, "host_to_device"},
      {CopyRoute::device_to_host, "device_to_host"},
      {CopyRoute::both, "both"},
      {CopyRoute::inside, "inside"},
      {CopyRoute::peer_write, "peer_write"},
      {CopyRoute::peer_read, "peer_read"}}}};
inline constexpr NameTable<HostMemory, 2> kHostMemories{
    {{{HostMemory::pinned, "pinned"}, {HostMemory::pageable, "pageable"}}}};

constexpr bool uses_host(CopyRoute route) {
  return route == CopyRoute::host_to_device || route == CopyRoute::device_to_host ||
         route == CopyRoute::both;
}
constexpr bool uses_peer(CopyRoute route) {
  return route == CopyRoute::peer_write || route == CopyRoute::peer_read;
}

struct CopyRequest {
  CopyRoute route = CopyRoute::host_to_device;
  HostMemory memory = HostMemory::pinned;
  std::size_t bytes = 0;         // of one copy, one way
  std::optional<int> numa_node;  // of the host memory; default: the calling thread's
  int peer = 0;                  // the device's number on this host
  bool rotate = true;  // use different buffers in consecutive calls, to bypass device caches
};

/// A prepared copy.
class CopyRun {
 public:
  virtual ~CopyRun() = default;
  /// The timed work: the copy, `calls` times. Pageable copies have finished on return; others are
  /// only enqueued if the device has streams.
  virtual void run(std::int64_t calls) = 0;
  /// Compares every received byte, in every buffer used, with what was sent; copies first what no
  /// call has reached yet. Contents differ between buffers and between prepare() calls, and the
  /// target was poisoned.
  virtual Check verify() = 0;
};

/// A copy, or the reason why it is not possible.
struct CopyOffer {
  std::unique_ptr<CopyRun> run;
  std::string reason;
};

/// Foreign host memory, page-locked during the lifetime of this object.
class PageLock {
 public:
  virtual ~PageLock() = default;
};

/// A lock, or the reason why it is not possible.
struct PageLockOffer {
  std::unique_ptr<PageLock> lock;
  std::string reason;
};

/// Double-buffered batch uploads that run concurrently with device computations.
class Uploads {
 public:
  virtual ~Uploads() = default;
  /// Starts to copy `from`, which must not change until finish(). Returns at once for locked
  /// memory; other memory has been read on return.
  virtual void start(std::span<const std::byte> from) = 0;
  /// Waits for the last start().
  virtual void finish() = 0;
  /// Number of bytes of the last batch that differ from `expected`.
  virtual std::uint64_t wrong(std::span<const std::byte> expected) = 0;
};

/// Uploads, or the reason why they are not possible.
struct UploadsOffer {
  std::unique_ptr<Uploads> uploads;
  std::string reason;
};

class Copies {
 public:
  virtual ~Copies() = default;
  /// Numbers of the other devices of this host.
  virtual std::vector<int> peers() const = 0;
  /// NUMA nodes with memory.
  virtual std::vector<int> numa_nodes() const = 0;
  virtual CopyOffer prepare(const CopyRequest& request) = 0;
  /// `memory` is borrowed and must have been touched.
  virtual PageLockOffer lock(std::span<std::byte> /*memory*/) {
    return {nullptr, "this device cannot page-lock memory"};
  }
  /// For batches of at most `bytes`.
  virtual UploadsOffer uploads(std::size_t /*bytes*/) {
    return {nullptr, "this device cannot receive batches"};
  }
};

}  // namespace bench
