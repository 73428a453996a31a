#include "devices/collectives.h"

#include <cstring>
#include <new>

#include "core/names.h"
#include "devices/part_of_host.h"

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

void Collectives::send(std::span<const std::byte>, int) {
  throw Error(ErrorKind::environment, "this library sends no messages between two ranks");
}

void Collectives::receive(std::span<std::byte>, int) {
  throw Error(ErrorKind::environment, "this library sends no messages between two ranks");
}

std::unique_ptr<CollectiveMemory> make_host_collective_memory(std::size_t bytes) {
  return std::make_unique<HostCollectiveMemory>(bytes);
}

namespace {

constexpr NameTable<Isolation, 3> kIsolations{
    {{{Isolation::none, "none"}, {Isolation::nvlink, "nvlink"}, {Isolation::network, "network"}}}};

bool on_network(std::string_view transport) {
  return transport.starts_with("NET") || transport == "COLLNET";
}

/// P2P was requested at NVLink distance only; reductions in the switch use NVLink too.
bool on_nvlink(std::string_view transport) { return transport == "P2P" || transport == "NVLS"; }

bool allowed(Isolation isolation, std::string_view transport) {
  if (isolation == Isolation::nvlink) return on_nvlink(transport);
  return isolation == Isolation::none || on_network(transport);
}

}  // namespace

std::string_view to_string(Isolation isolation) { return kIsolations.name(isolation); }
Isolation isolation_from(std::string_view name) { return kIsolations.value(name, "isolation"); }

PathRequest on_own_rail(PathRequest asked) {
  if (asked.network_card.empty()) asked.network_card = own_card();
  return asked;
}

void UsedPaths::merge(const UsedPaths& other) {
  transports.insert(other.transports.begin(), other.transports.end());
  network_cards.insert(other.network_cards.begin(), other.network_cards.end());
}

Json to_json(const UsedPaths& paths) {
  return {{"transports", paths.transports}, {"network_cards", paths.network_cards}};
}

UsedPaths used_paths_from_json(const Json& json) {
  return {json.at("transports").get<std::set<std::string>>(),
          json.at("network_cards").get<std::set<std::string>>()};
}

std::string path_violation(const PathRequest& asked, const UsedPaths& used) {
  for (const std::string& transport : used.transports)
    if (!allowed(asked.isolation, transport))
      return "requested " + std::string(to_string(asked.isolation)) + " only, but " + transport +
             " was used";
  if (asked.network_card.empty()) return "";
  for (const std::string& card : used.network_cards)
    if (card != asked.network_card)
      return "requested NIC " + asked.network_card + " only, but " + card + " was used";
  return "";
}

}  // namespace bench
