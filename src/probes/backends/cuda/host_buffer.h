// Host memory on a chosen NUMA node, page-locked or not, touched and ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "probes/device/copies.h"

namespace bench {

class HostBuffer {
 public:
  /// Throws Error(environment) when the memory cannot be had, bound or locked.
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

}  // namespace bench
