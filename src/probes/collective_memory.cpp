#include <cstring>
#include <new>

#include "core/names.h"
#include "probes/device/collectives.h"

namespace bench {
namespace {

constexpr NameTable<CollectiveOp, 7> kOps{{{{CollectiveOp::all_reduce, "all_reduce"},
                                            {CollectiveOp::all_gather, "all_gather"},
                                            {CollectiveOp::reduce_scatter, "reduce_scatter"},
                                            {CollectiveOp::broadcast, "broadcast"},
                                            {CollectiveOp::reduce, "reduce"},
                                            {CollectiveOp::all_to_all, "all_to_all"},
                                            {CollectiveOp::send_recv, "send_recv"}}}};

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

std::string_view to_string(CollectiveOp op) { return kOps.name(op); }
CollectiveOp collective_op_from(std::string_view name) { return kOps.value(name, "collective"); }

std::unique_ptr<CollectiveMemory> make_host_collective_memory(std::size_t bytes) {
  return std::make_unique<HostCollectiveMemory>(bytes);
}

}  // namespace bench
