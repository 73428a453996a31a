#include "runner/hardware/copy_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text.h"
#include "runner/hardware/hardware_limits.h"

namespace bench {
namespace {

struct Generation {
  double transfers_per_second;  // of one lane
  double efficiency;            // of the encoding
  const char* encoding;
};

// Generation 6 sends FLITs of 256 bytes, of which 236 carry packets.
constexpr std::array<Generation, 6> kGenerations = {{{2.5e9, 0.8, "8/10"},
                                                     {5e9, 0.8, "8/10"},
                                                     {8e9, 128.0 / 130.0, "128/130"},
                                                     {16e9, 128.0 / 130.0, "128/130"},
                                                     {32e9, 128.0 / 130.0, "128/130"},
                                                     {64e9, 236.0 / 256.0, "236/256"}}};

// What root complexes of today's servers allow; 512 would be 4 % more.
constexpr int kUsualPayload = 256;

/// Framing 4, address header 16, checksum 4 for the writes of device_to_host; the answers to the
/// device's reads of host_to_device have a header of 12.
int header_bytes(const std::string& route) { return route == "host_to_device" ? 20 : 24; }

/// Explains differences from the product's datasheet.
std::string remarks(const HostLink& host, const DeviceFacts& facts, int generation, int lanes) {
  std::string text;
  if (host.pcie_generation && host.pcie_lanes &&
      (generation < *host.pcie_generation || lanes < *host.pcie_lanes))
    text += fmt::format("; the product supports {} x{}", *host.pcie_generation, *host.pcie_lanes);
  if (!facts.pcie_slowest.empty())
    text += fmt::format("; the slowest link of its path, at {}", printable(facts.pcie_slowest));
  if (facts.pcie_generation && facts.pcie_generation_now &&
      *facts.pcie_generation_now < *facts.pcie_generation)
    text += fmt::format("; when idle its own is at generation {}", *facts.pcie_generation_now);
  return text;
}

std::optional<Limit> pcie_limit(const HostLink& host, const DeviceFacts& facts,
                                const std::string& route) {
  const auto generation = facts.pcie_generation ? facts.pcie_generation : host.pcie_generation;
  const auto lanes = facts.pcie_lanes ? facts.pcie_lanes : host.pcie_lanes;
  if (!generation || !lanes) return {};
  const PcieLink link{*generation, *lanes, facts.pcie_payload_bytes.value_or(kUsualPayload),
                      header_bytes(route)};
  const double value = pcie_bytes_per_second(link);
  if (!(value > 0.0)) return {};
  const Generation& rates = kGenerations[static_cast<std::size_t>(*generation - 1)];
  const bool read = facts.pcie_generation && facts.pcie_lanes && facts.pcie_payload_bytes;
  return Limit{
      value, read ? LimitKind::proven : LimitKind::datasheet,
      fmt::format("PCIe {} x{}: {:g} GT/s x {} lanes x {} / 8 bits x {}/({} + {}) payload = {}{}",
                  *generation, *lanes, rates.transfers_per_second / 1e9, *lanes, rates.encoding,
                  link.payload_bytes, link.payload_bytes, link.header_bytes,
                  format(value, Unit::byte_per_second), remarks(host, facts, *generation, *lanes))};
}

std::optional<Limit> host_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                const std::string& route) {
  if (facts.c2c_links.value_or(0) > 0 && facts.c2c_bytes_per_second)
    return Limit{
        *facts.c2c_bytes_per_second, LimitKind::datasheet,
        fmt::format("NVLink-C2C: {} links, {} one way, as reported by the driver", *facts.c2c_links,
                    format(*facts.c2c_bytes_per_second, Unit::byte_per_second))};
  if (!entry.host_link) return {};
  const HostLink& host = *entry.host_link;
  if (!host.bytes_per_second) return pcie_limit(host, facts, route);
  if (facts.c2c_links == 0) {
    auto limit = pcie_limit(host, facts, route);
    if (limit) limit->source += fmt::format("; its {} is not active", host.kind);
    return limit;
  }
  return Limit{*host.bytes_per_second, LimitKind::datasheet,
               fmt::format("{} {} one way ({})", host.kind,
                           format(*host.bytes_per_second, Unit::byte_per_second),
                           entry.sources.at(host.source))};
}

Limit links_limit(const HardwareLink& link, int links, bool read) {
  const double value = links * link.link_bytes_per_second;
  return {value, read ? LimitKind::proven : LimitKind::datasheet,
          fmt::format("{}: {} links x {} = {} one way, before headers", link.kind, links,
                      format(link.link_bytes_per_second, Unit::byte_per_second),
                      format(value, Unit::byte_per_second))};
}

/// The bytes of both directions together: the link carries each at its full rate.
std::optional<Limit> both_limit(const HardwareEntry& entry, const DeviceFacts& facts) {
  const auto there = host_limit(entry, facts, "host_to_device");
  const auto back = host_limit(entry, facts, "device_to_host");
  if (!there || !back) return {};
  return Limit{there->value + back->value, there->kind,
               "both directions: " + there->source + "; " + back->source};
}

/// A copy inside the device reads and writes each byte that it counts.
std::optional<Limit> inside_limit(const HardwareEntry& entry, const DeviceFacts& facts) {
  auto limit = memory_limit(entry, facts);
  if (!limit) return {};
  limit->value /= 2.0;
  limit->source += ", half of it read and half written";
  return limit;
}

/// Peers use PCIe if the product has no links, or if none of them is up.
bool has_links(const HardwareEntry& entry, const DeviceFacts& facts) {
  return entry.link && facts.links != 0;
}

std::optional<Limit> over_pcie(const HardwareEntry& entry, const DeviceFacts& facts) {
  if (!entry.host_link) return {};
  auto limit = pcie_limit(*entry.host_link, facts, "device_to_host");
  if (limit && entry.link) limit->source += fmt::format("; none of its {} is up", entry.link->kind);
  return limit;
}

std::optional<Limit> peer_limit(const HardwareEntry& entry, const DeviceFacts& facts) {
  if (!has_links(entry, facts)) return over_pcie(entry, facts);
  const int all = facts.links.value_or(entry.link->links);
  return links_limit(*entry.link, std::min(all, entry.link->links_to_a_peer.value_or(all)),
                     facts.links.has_value());
}

}  // namespace

double pcie_bytes_per_second(const PcieLink& link) {
  const bool known =
      link.generation >= 1 && link.generation <= static_cast<int>(kGenerations.size());
  if (!known || link.lanes < 1 || link.payload_bytes < 1) return 0.0;
  const Generation& rates = kGenerations[static_cast<std::size_t>(link.generation - 1)];
  const double payload = link.payload_bytes;
  return rates.transfers_per_second / 8.0 * link.lanes * rates.efficiency * payload /
         (payload + link.header_bytes);
}

std::optional<Limit> device_link_limit(const HardwareEntry& entry, const DeviceFacts& facts) {
  if (!has_links(entry, facts)) return over_pcie(entry, facts);
  return links_limit(*entry.link, facts.links.value_or(entry.link->links), facts.links.has_value());
}

std::optional<Limit> copy_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                const std::string& route) {
  if (route == "host_to_device" || route == "device_to_host")
    return host_limit(entry, facts, route);
  if (route == "both") return both_limit(entry, facts);
  if (route == "inside") return inside_limit(entry, facts);
  if (route == "peer_write" || route == "peer_read") return peer_limit(entry, facts);
  return {};
}

}  // namespace bench
