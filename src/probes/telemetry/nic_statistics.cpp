#include "probes/telemetry/nic_statistics.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <optional>
#include <vector>

#include "core/descriptor.h"
#include "probes/telemetry/table_source.h"

namespace bench {
namespace {

constexpr std::size_t kMostNics = 16;
constexpr std::uint32_t kMostStatistics = 100'000;
constexpr Seconds kNicPeriod{10.0};  // some drivers ask their firmware for a thousand counters

/// Calls ethtool with a block that begins with its command.
bool ethtool(int socket, const std::string& interface, void* block) {
  ifreq request{};
  if (interface.size() >= sizeof request.ifr_name) return false;
  std::memcpy(request.ifr_name, interface.data(), interface.size());
  request.ifr_data = static_cast<char*>(block);
  return ioctl(socket, SIOCETHTOOL, &request) == 0;
}

std::uint32_t count_statistics(int socket, const std::string& interface) {
  std::array<std::uint64_t, 1 + sizeof(ethtool_sset_info) / 8> block{};
  auto* info = reinterpret_cast<ethtool_sset_info*>(block.data());
  info->cmd = ETHTOOL_GSSET_INFO;
  info->sset_mask = 1ull << ETH_SS_STATS;
  if (!ethtool(socket, interface, info) || info->sset_mask == 0) return 0;
  return std::min(info->data[0], kMostStatistics);
}

bool is_priority_pause(const std::string& name, const std::string& way) {
  return name.size() == way.size() + 12 && name.starts_with(way + "_prio") &&
         std::isdigit(static_cast<unsigned char>(name[way.size() + 5])) != 0 &&
         name.ends_with("_pause");
}

/// Pauses of single priorities add up; of those of the whole link drivers have several names for
/// one count.
std::optional<double> pauses(const NicStatistics& all, const std::string& way) {
  constexpr std::array<const char*, 4> kWhole = {"_global_pause", "_pause_ctrl_phy",
                                                 "_pause_frames", "_pause"};
  double priorities = 0.0, whole = 0.0;
  bool known = false;
  for (const auto& [name, count] : all) {
    const bool one = is_priority_pause(name, way);
    const bool link =
        std::ranges::any_of(kWhole, [&](const char* end) { return name == way + end; });
    known |= one || link;
    if (one) priorities += count;
    if (link) whole = std::max(whole, count);
  }
  return known ? std::optional(priorities + whole) : std::nullopt;
}

std::optional<double> one_of(const NicStatistics& all, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const auto found = all.find(name); found != all.end()) return found->second;
  return {};
}

struct NicItem {
  const char* suffix;
  std::optional<double> (*read)(const NicStatistics& all);
};

constexpr std::array<NicItem, 4> kNicItems{
    {{"pauses_received", [](const NicStatistics& all) { return pauses(all, "rx"); }},
     {"pauses_sent", [](const NicStatistics& all) { return pauses(all, "tx"); }},
     {"discards_received",
      [](const NicStatistics& all) {
        return one_of(all, {"rx_discards_phy", "rx_discard_pkts", "rx_missed_errors"});
      }},
     {"crc_errors", [](const NicStatistics& all) {
        return one_of(all, {"rx_crc_errors_phy", "rx_crc_errors", "port.rx_crc_errors"});
      }}}};

}  // namespace

NicStatistics read_nic(const std::string& interface) {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return {};
  const std::uint32_t count = count_statistics(socket.get(), interface);
  if (count == 0) return {};
  // Words of eight bytes, so that the counts behind a head of eight bytes are aligned.
  std::vector<std::uint64_t> names(1 + (sizeof(ethtool_gstrings) + count * ETH_GSTRING_LEN) / 8);
  auto* strings = reinterpret_cast<ethtool_gstrings*>(names.data());
  strings->cmd = ETHTOOL_GSTRINGS;
  strings->string_set = ETH_SS_STATS;
  strings->len = count;
  std::vector<std::uint64_t> counts(1 + count + sizeof(ethtool_stats) / 8);
  auto* stats = reinterpret_cast<ethtool_stats*>(counts.data());
  stats->cmd = ETHTOOL_GSTATS;
  stats->n_stats = count;
  if (!ethtool(socket.get(), interface, strings) || !ethtool(socket.get(), interface, stats))
    return {};
  NicStatistics all;
  for (std::uint32_t i = 0; i < std::min({count, strings->len, stats->n_stats}); ++i) {
    const char* name = reinterpret_cast<const char*>(strings->data) + i * ETH_GSTRING_LEN;
    all[std::string(name, strnlen(name, ETH_GSTRING_LEN))] = static_cast<double>(stats->data[i]);
  }
  return all;
}

std::unique_ptr<CounterSource> nic_counters(const SystemFiles& files, const ReadNic& read) {
  std::vector<CounterColumn> columns;
  std::vector<std::pair<std::string, std::size_t>> found;  // interface, item
  std::size_t nics = 0;
  for (const std::string& name : files.entries("sys/class/net")) {
    if (!files.exists("sys/class/net/" + name + "/device") || ++nics > kMostNics) continue;
    const NicStatistics all = read(name);
    for (std::size_t item = 0; item < kNicItems.size(); ++item) {
      if (!kNicItems.at(item).read(all)) continue;
      columns.push_back({name + "." + kNicItems.at(item).suffix, "count", CounterColumn::counter});
      found.emplace_back(name, item);
    }
  }
  if (columns.empty()) return {};
  return std::make_unique<TableSource>(
      "host.ethernet", columns,
      [read, found](std::span<double> values) {
        std::string last;
        NicStatistics all;
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (found[i].first != last) all = read(last = found[i].first);
          values[i] = kNicItems.at(found[i].second).read(all).value_or(kUnread);
        }
      },
      kNicPeriod);
}

}  // namespace bench
