// Host memory of one arena: aligned, and zero at first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace bench::training {

class MemoryBlock {
 public:
  MemoryBlock() = default;
  /// Throws Error(environment) naming `purpose` and the bytes where there is not so much.
  MemoryBlock(std::int64_t bytes, const char* purpose);

  std::byte* data() const { return data_.get(); }
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_ = {};
  std::int64_t bytes_ = 0;
};

}  // namespace bench::training
