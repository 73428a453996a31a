#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/error.h"
#include "probes/training/kernels/memory.h"

namespace bench::training {
namespace {

// The advice is ignored if huge pages have another size or are unavailable.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

class HostMemory final : public Memory {
 public:
  bool on_host() const override { return true; }
  void* allocate(std::int64_t bytes, const char* purpose) override {
    const auto size = static_cast<std::size_t>(std::max(bytes, kAlignment));
    const std::size_t unit = size < 2 * kHugePage ? kAlignment : kHugePage;
    const std::size_t whole = (size + unit - 1) / unit * unit;
    void* data = std::aligned_alloc(unit, whole);
    if (!data)
      throw Error(ErrorKind::environment,
                  "cannot allocate " + std::to_string(bytes) + " bytes for " + purpose,
                  "use a smaller preset or micro-batch");
    // A step reads all of it: with 4 KiB pages it would wait for TLB misses.
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

}  // namespace bench::training
