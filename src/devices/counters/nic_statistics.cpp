#include "devices/counters/nic_statistics.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "core/descriptor.h"
#include "core/text.h"
#include "devices/counters/counter_source.h"

namespace bench {
namespace {

// Counters of InfiniBand and RoCE ports.

constexpr std::size_t kMostPorts = 16;
// Some adapters query their firmware for each port counter, which takes milliseconds.
constexpr Seconds kPortPeriod{1.0};
constexpr double kGigabit = 1e9 / 8.0;

const std::string kPorts = "sys/class/infiniband";

/// Error counters saturate at their maximum (InfiniBand Architecture 1.4, 16.1.3.5) and are then
/// meaningless. `most` is that value; 0 for wide counters.
struct PortItem {
  CounterColumn column;
  std::string file;
  double factor = 1.0;
  double most = 0.0;
};

std::vector<PortItem> items() {
  // The data counters count words of four bytes (16.1.3.5).
  return {
      {{"received_bytes", "byte", CounterColumn::counter}, "counters/port_rcv_data", 4.0},
      {{"sent_bytes", "byte", CounterColumn::counter}, "counters/port_xmit_data", 4.0},
      {{"send_waits", "count", CounterColumn::counter}, "counters/port_xmit_wait"},
      {{"symbol_errors", "count", CounterColumn::counter}, "counters/symbol_error", 1.0, 65535.0},
      {{"link_recoveries", "count", CounterColumn::counter},
       "counters/link_error_recovery",
       1.0,
       255.0},
      {{"link_downed", "count", CounterColumn::counter}, "counters/link_downed", 1.0, 255.0},
      {{"received_errors", "count", CounterColumn::counter},
       "counters/port_rcv_errors",
       1.0,
       65535.0},
      {{"send_discards", "count", CounterColumn::counter},
       "counters/port_xmit_discards",
       1.0,
       65535.0},
      {{"local_link_integrity", "count", CounterColumn::counter},
       "counters/local_link_integrity_errors",
       1.0,
       15.0},
      {{"out_of_sequence", "count", CounterColumn::counter}, "hw_counters/out_of_sequence"},
      {{"retries_exceeded", "count", CounterColumn::counter}, "hw_counters/rnr_nak_retry_err"},
      {{"congestion_sent", "count", CounterColumn::counter}, "hw_counters/np_cnp_sent"},
      {{"congestion_handled", "count", CounterColumn::counter}, "hw_counters/rp_cnp_handled"}};
}

/// "400 Gb/sec (4X NDR)".
double link_rate(const SystemFiles& files, const std::string& path) {
  const std::string text = files.text(path, 64).value_or("");
  const auto words = words_of(text);
  if (words.size() < 2 || words[1] != "Gb/sec") return kUnread;
  const std::string_view whole = words[0].substr(0, words[0].find('.'));  // 2.5: link down
  return value_of(parse_number(whole)) * kGigabit;
}

}  // namespace

std::unique_ptr<CounterSource> infiniband_counters(const SystemFiles& files) {
  std::vector<CounterColumn> columns;
  std::vector<PortItem> found;
  std::size_t ports = 0;
  for (const std::string& card : files.entries(kPorts))
    for (const std::string& port : files.entries(kPorts + "/" + card + "/ports")) {
      if (++ports > kMostPorts) break;
      const std::string folder = kPorts + "/" + card + "/ports/" + port + "/";
      const auto add = [&](PortItem item) {
        item.file = folder + item.file;
        columns.push_back(item.column);
        columns.back().name = card + "." + port + "." + item.column.name;
        found.push_back(std::move(item));
      };
      for (const PortItem& item : items())
        if (files.number(folder + item.file)) add(item);  // the adapter has it
      if (files.exists(folder + "rate"))
        add({{"link_rate", "byte_per_second", CounterColumn::gauge}, "rate"});
    }
  if (columns.empty()) return {};
  return std::make_unique<TableSource>(
      "host.infiniband", std::move(columns),
      [files, found = std::move(found)](std::span<double> values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          const PortItem& item = found[i];
          if (item.column.kind == CounterColumn::gauge) {
            values[i] = link_rate(files, item.file);
            continue;
          }
          const double count = value_of(files.number(item.file));
          values[i] = item.most > 0.0 && count >= item.most ? kUnread : count * item.factor;
        }
      },
      kPortPeriod);
}

namespace {

constexpr std::size_t kMostNics = 16;
constexpr std::uint32_t kMostStatistics = 100'000;
constexpr Seconds kNicPeriod{10.0};  // some drivers query the firmware for a thousand counters

/// Calls ethtool with a block that starts with its command.
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
         is_digit(name[way.size() + 5]) && name.ends_with("_pause");
}

/// Pauses of priorities add up; for those of the link, drivers have several names for one counter.
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
  // 8-byte words, so that the counts after an 8-byte header are aligned.
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
