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

namespace bench {

/// Memory could not be bound to a node: a container may forbid it, or the node may not be allowed.
class MemoryRefused : public Error {
 public:
  explicit MemoryRefused(const std::string& what) : Error(ErrorKind::environment, what) {}
};

/// Touched host memory on a selected NUMA node, page-locked or not.
class HostBuffer {
 public:
  /// Throws MemoryRefused if the memory cannot be bound, another Error(environment) if it cannot be
  /// allocated or locked.
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

/// words[i] = random_bits(seed, i), and the number of words that differ from it.
void fill_words(std::span<std::uint64_t> words, std::uint64_t seed);
double count_wrong_words(std::span<const std::uint64_t> words, std::uint64_t seed);

std::unique_ptr<Copies> make_cuda_copies(int device, cudaStream_t stream);

}  // namespace bench
