// Counters of InfiniBand and RoCE ports.
#include "probes/telemetry/nic_statistics.h"
#include "probes/telemetry/table_source.h"

namespace bench {
namespace {

constexpr std::size_t kMostPorts = 16;
// Some adapters ask their firmware for each port counter, which takes milliseconds.
constexpr Seconds kPortPeriod{1.0};
constexpr double kGigabit = 1e9 / 8.0;

const std::string kPorts = "sys/class/infiniband";

/// Error counters stop at their greatest value (InfiniBand Architecture 1.4, 16.1.3.5): from then
/// on they tell nothing. `most`: that value; 0 for counters that are wide enough.
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
  const auto words = words_of(std::string_view(text));
  if (words.size() < 2 || words[1] != "Gb/sec") return kUnread;
  const std::string_view whole = words[0].substr(0, words[0].find('.'));  // 2.5 is a dead link's
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
        if (files.number(folder + item.file)) add(item);  // others are not of this adapter
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

}  // namespace bench
