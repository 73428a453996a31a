#include <cstring>
#include <new>

#include "probes/device/collectives.h"

namespace bench {
namespace {

// More than a page, so that the operations of large sizes begin alike whatever the allocator did.
constexpr std::align_val_t kAlignment{2 << 20};

class HostCollectiveMemory final : public CollectiveMemory {
 public:
  explicit HostCollectiveMemory(std::size_t bytes)
      : data_(static_cast<std::byte*>(::operator new[](bytes, kAlignment))) {}
  ~HostCollectiveMemory() override { ::operator delete[](data_, kAlignment); }
  HostCollectiveMemory(const HostCollectiveMemory&) = delete;
  HostCollectiveMemory& operator=(const HostCollectiveMemory&) = delete;

  std::byte* data() override { return data_; }
  void write(std::size_t at, std::span<const std::byte> bytes) override {
    std::memcpy(data_ + at, bytes.data(), bytes.size());
  }
  void read(std::size_t at, std::span<std::byte> bytes) override {
    std::memcpy(bytes.data(), data_ + at, bytes.size());
  }

 private:
  std::byte* data_;
};

}  // namespace

std::unique_ptr<CollectiveMemory> make_host_collective_memory(std::size_t bytes) {
  return std::make_unique<HostCollectiveMemory>(bytes);
}

}  // namespace bench
