#include "training/kernels/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"

namespace bench::training {
namespace {

// The advice is ignored if huge pages have another size or are unavailable.
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;

class HostMemory final : public Memory {
 public:
  bool on_host() const override { return true; }
  void* allocate(std::int64_t bytes, const char* purpose) override {
    const auto size = static_cast<std::size_t>(std::max(bytes, kAlignment));
    const std::size_t unit = size < kPage ? kAlignment : size < 2 * kHugePage ? kPage : kHugePage;
    const std::size_t whole = (size + unit - 1) / unit * unit;
    void* data = std::aligned_alloc(unit, whole);
    if (!data)
      throw Error(ErrorKind::environment,
                  "cannot allocate " + std::to_string(bytes) + " bytes for " + purpose,
                  "use a smaller preset or micro-batch");
    // A step reads all of it: with 4 KiB pages, TLB misses would slow it down.
    if (unit == kHugePage) madvise(data, whole, MADV_HUGEPAGE);
    std::memset(data, 0, whole);
    return data;
  }
  void release(void* data) override { std::free(data); }
  void* allocate_staging(std::int64_t bytes, const char* purpose) override {
    return allocate(bytes, purpose);
  }
  void release_staging(void* data) override { release(data); }
  void upload(const void* from, void* to, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void uploaded() override {}
  void download(const void* from, void* to, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void synchronise() override {}
};

}  // namespace

std::shared_ptr<Memory> host_memory() {
  static const std::shared_ptr<Memory> memory = std::make_shared<HostMemory>();
  return memory;
}

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
