#include "probes/device/collective_paths.h"

#include "core/names.h"
#include "probes/part_of_host.h"

namespace bench {
namespace {

constexpr NameTable<Isolation, 3> kIsolations{
    {{{Isolation::none, "none"}, {Isolation::nvlink, "nvlink"}, {Isolation::network, "network"}}}};

bool on_network(std::string_view transport) {
  return transport.starts_with("NET") || transport == "COLLNET";
}

/// Direct access was asked for at NVLink distance only; reductions in the switch use NVLink too.
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
