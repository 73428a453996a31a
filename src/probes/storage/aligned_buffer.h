// Memory that direct I/O may use: aligned, and touched once so that no page fault is timed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace bench::storage {

/// The largest logical block of devices in use; offsets, lengths and memory of direct I/O are
/// multiples of it.
inline constexpr std::size_t kDirectAlignment = 4096;

/// The next multiple of kDirectAlignment.
constexpr std::size_t aligned_up(std::size_t bytes) {
  return (bytes + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
}

class AlignedBuffer {
 public:
  /// Rounded up to the alignment. Throws std::bad_alloc.
  explicit AlignedBuffer(std::size_t bytes)
      : bytes_(aligned_up(bytes)),
        memory_(static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, bytes_))) {
    if (!memory_ && bytes_ > 0) throw std::bad_alloc();
    if (memory_) std::memset(memory_.get(), 0, bytes_);
  }
  std::span<std::byte> all() { return {memory_.get(), bytes_}; }
  std::span<const std::byte> all() const { return {memory_.get(), bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
};

}  // namespace bench::storage
