// Memory of one arena: aligned, and zero at first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "probes/training/kernels/memory.h"

namespace bench::training {

class MemoryBlock {
 public:
  MemoryBlock() = default;
  /// Throws Error(environment) naming `purpose` and the bytes where there is not so much.
  MemoryBlock(std::int64_t bytes, const char* purpose,
              std::shared_ptr<Memory> memory = host_memory());
  /// Host memory from which `memory` is uploaded to fast.
  static MemoryBlock staging(std::int64_t bytes, const char* purpose,
                             std::shared_ptr<Memory> memory);

  std::byte* data() const { return data_.get(); }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<std::byte> data_ = {};  // its deleter keeps the memory's owner
  std::int64_t bytes_ = 0;
};

}  // namespace bench::training
