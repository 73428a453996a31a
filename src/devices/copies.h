// Copies between the memories a device reaches: the host's, page-locked or not and on any NUMA
// node, its own, and those of its peers.
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

/// `both` is one copy each way at once; `inside` stays in the device's own memory; peers are other
/// devices of the host, written to or read from by this one.
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
  std::optional<int> numa_node;  // of the host memory; nothing: where the calling thread runs
  int peer = 0;                  // the device's number on this host
  bool rotate = true;            // calls in a row between other places, past the device's caches
};

/// One copy made ready.
class CopyRun {
 public:
  virtual ~CopyRun() = default;
  /// The timed work: the copy, `calls` times. With pageable memory it has ended on return, else it
  /// is only enqueued where the device has a stream.
  virtual void run(std::int64_t calls) = 0;
  /// Every byte of what arrived, at every place that calls go through, against what was sent; what
  /// no call has reached yet is copied first. The contents differ from place to place and from one
  /// prepare to the next, and the target was poisoned.
  virtual Check verify() = 0;
};

/// A copy, or why there is none.
struct CopyOffer {
  std::unique_ptr<CopyRun> run;
  std::string reason;
};

/// Host memory of somebody else that the device copies from by itself, for as long as this lives.
class PageLock {
 public:
  virtual ~PageLock() = default;
};

/// A lock, or why there is none.
struct PageLockOffer {
  std::unique_ptr<PageLock> lock;
  std::string reason;
};

/// Batches on their way to the device, alongside what it computes meanwhile: each goes to the other
/// one of two places.
class Uploads {
 public:
  virtual ~Uploads() = default;
  /// Begins to copy `from`, which stays as it is until finish(). Out of locked memory it returns at
  /// once; other memory has been read when it does.
  virtual void start(std::span<const std::byte> from) = 0;
  /// Returns when what was started last has arrived.
  virtual void finish() = 0;
  /// How many bytes of what arrived last are others than these.
  virtual std::uint64_t wrong(std::span<const std::byte> expected) = 0;
};

/// A way for batches, or why there is none.
struct UploadsOffer {
  std::unique_ptr<Uploads> uploads;
  std::string reason;
};

class Copies {
 public:
  virtual ~Copies() = default;
  /// Numbers of the other devices of this host.
  virtual std::vector<int> peers() const = 0;
  /// NUMA nodes of the host that have memory.
  virtual std::vector<int> numa_nodes() const = 0;
  virtual CopyOffer prepare(const CopyRequest& request) = 0;
  /// `memory` is borrowed, and has been touched.
  virtual PageLockOffer lock(std::span<std::byte> /*memory*/) {
    return {nullptr, "this device cannot page-lock memory"};
  }
  /// For batches of at most so many bytes.
  virtual UploadsOffer uploads(std::size_t /*bytes*/) {
    return {nullptr, "this device cannot receive batches"};
  }
};

}  // namespace bench
