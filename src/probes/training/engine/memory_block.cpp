#include "probes/training/engine/memory_block.h"

#include <utility>

namespace bench::training {

MemoryBlock::MemoryBlock(std::int64_t bytes, const char* purpose, std::shared_ptr<Memory> memory)
    : bytes_(bytes) {
  auto* data = static_cast<std::byte*>(memory->allocate(bytes, purpose));
  data_ = {data, [memory = std::move(memory)](std::byte* block) { memory->release(block); }};
}

MemoryBlock MemoryBlock::staging(std::int64_t bytes, const char* purpose,
                                 std::shared_ptr<Memory> memory) {
  MemoryBlock block;
  block.bytes_ = bytes;
  auto* data = static_cast<std::byte*>(memory->allocate_staging(bytes, purpose));
  block.data_ = {data,
                 [memory = std::move(memory)](std::byte* at) { memory->release_staging(at); }};
  return block;
}

}  // namespace bench::training
