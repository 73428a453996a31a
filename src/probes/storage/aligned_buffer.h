// Memory for direct I/O: aligned, and touched once so that no page fault is timed. Large buffers
// request huge pages, because the kernel pins every page in every operation.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace bench::storage {

/// The largest logical block size of devices in use: offsets, lengths and addresses of direct I/O
/// must be multiples of it.
inline constexpr std::size_t kDirectAlignment = 4096;

/// The next multiple of kDirectAlignment.
constexpr std::size_t aligned_up(std::size_t bytes) {
  return (bytes + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
}

class AlignedBuffer {
 public:
  /// Rounded up to the alignment. Throws std::bad_alloc.
  explicit AlignedBuffer(std::size_t bytes) : bytes_(aligned_up(bytes)) {
    if (bytes_ == 0) return;
    const std::size_t unit = bytes_ < kHugePage ? kDirectAlignment : kHugePage;
    const std::size_t whole = (bytes_ + unit - 1) / unit * unit;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(unit, whole)));
    if (!memory_) throw std::bad_alloc();
    if (unit == kHugePage) ::madvise(memory_.get(), whole, MADV_HUGEPAGE);  // best effort
    std::memset(memory_.get(), 0, bytes_);
  }
  std::span<std::byte> all() { return {memory_.get(), bytes_}; }
  std::span<const std::byte> all() const { return {memory_.get(), bytes_}; }

 private:
  static constexpr std::size_t kHugePage = 2u << 20;

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> memory_ = {};
};

}  // namespace bench::storage
