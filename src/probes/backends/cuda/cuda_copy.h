// One kind of copy with its buffers: made ready, done as often as asked for, and verified.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "probes/backends/cuda/cuda_memory_blocks.h"
#include "probes/backends/cuda/cuda_stream.h"
#include "probes/backends/cuda/host_buffer.h"
#include "probes/backends/cuda/stream_timer.h"
#include "probes/device/copies.h"

namespace bench {

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

}  // namespace bench
