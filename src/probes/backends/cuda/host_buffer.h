// Host memory on a chosen NUMA node, page-locked or not, touched and ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/error.h"
#include "probes/device/copies.h"

namespace bench {

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

}  // namespace bench
