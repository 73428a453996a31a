// Copies by the GPU's copy engines.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "devices/copies.h"
#include "devices/cuda/cuda_error.h"
#include "devices/cuda/stream_timer.h"

namespace bench {

// Batches of a data loader on their way to a GPU.

/// Page-locks memory of the host for all GPUs; the reason where the driver refuses it.
PageLockOffer lock_for_cuda(std::span<std::byte> memory);

/// On a stream of its own of the GPU that is current, so that kernels run meanwhile; the reason
/// where the GPU has no room for two batches.
UploadsOffer make_cuda_uploads(std::size_t bytes);

// Host memory on a chosen NUMA node, page-locked or not, touched and ready.

/// A container forbids to choose memory's node, or this process may not use that node.
class MemoryRefused : public Error {
 public:
  explicit MemoryRefused(const std::string& what) : Error(ErrorKind::environment, what) {}
};

class HostBuffer {
 public:
  /// Throws MemoryRefused when the memory cannot be bound, another Error(environment) when it
  /// cannot be had or locked.
  HostBuffer(std::size_t bytes, HostMemory kind, std::optional<int> numa_node);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  std::span<std::uint64_t> words() const;

 private:
  void unmap();

  std::size_t bytes_;
  void* data_ = nullptr;
  bool locked_ = false;
};

/// words[i] = random_bits(seed, i); and how many are not.
void fill_words(std::span<std::uint64_t> words, std::uint64_t seed);
double count_wrong_words(std::span<const std::uint64_t> words, std::uint64_t seed);

// One kind of copy with its buffers: made ready, done as often as asked for, and verified.

class CudaCopy final : public CopyRun {
 public:
  /// Fills what is to be copied from `seed` on. `device` is the GPU that `stream` belongs to;
  /// access to a peer must be open.
  CudaCopy(const CopyRequest& request, int device, cudaStream_t stream, std::uint64_t seed);

  void run(std::int64_t calls) override;
  Check verify() override;

 private:
  /// One direction: where from, where to, and what must arrive.
  struct Leg {
    std::uint64_t* to = nullptr;
    const std::uint64_t* from = nullptr;
    std::span<const std::uint64_t> host_target;  // empty where the target is a GPU's
    std::uint64_t seed = 0;
  };

  HostBuffer& add_host();
  void add_from_host(std::uint64_t seed);
  void add_to_host(std::uint64_t seed);
  void add_between(const DeviceMemory& from, const DeviceMemory& to, std::uint64_t seed);
  void poison(const DeviceMemory& memory);
  double wrong_on_gpu(const Leg& leg);

  const CopyRequest request_;
  const std::size_t sets_;    // places that calls go through in turn
  const std::size_t region_;  // bytes of all of them
  const std::size_t words_;   // of all of them
  std::size_t set_ = 0;       // of the next call
  std::size_t reached_ = 0;   // sets that a call has been at
  const cudaStream_t stream_;
  CudaStream other_;
  CudaEvent fork_, join_;
  DeviceMemory inner_;    // on this GPU
  DeviceMemory outer_;    // on this GPU too, or on the peer
  DeviceMemory checked_;  // what arrived, brought where this GPU's kernels reach it
  DeviceMemory wrong_;
  std::vector<std::unique_ptr<HostBuffer>> hosts_;
  std::vector<Leg> legs_;
};

std::unique_ptr<Copies> make_cuda_copies(int device, cudaStream_t stream);

}  // namespace bench
