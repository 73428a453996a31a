#include "results/run/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace bench {
namespace {

constexpr auto kHard = CounterKind::hard, kDoubt = CounterKind::doubt;

constexpr std::string_view kPort = "host.infiniband", kNet = "host.network", kNic = "host.ethernet",
                           kGpu = ".health";
constexpr std::string_view kMemory = "host.memory_errors", kPcie = "host.pcie",
                           kCpu = "host.cpu_errors";

constexpr double kOneIn1e12 = 1e-12;
// A transaction layer packet adds 20 to 28 bytes to at most 256 of payload in practice, data link
// packets and the other direction's requests some more (PCI Express Base 5.0, 2.2 and 3.5).
constexpr double kPcieBits = 8.0 * 1.25;

constexpr std::string_view kIbWhy =
    "InfiniBand Architecture, volume 2: bit error ratio at most 1e-12; an idle link carries "
    "symbols too";
constexpr std::string_view kIbPacketWhy =
    "InfiniBand Architecture, volume 2: bit error ratio at most 1e-12; one bit error spoils a "
    "packet";
constexpr std::string_view kEthernetWhy =
    "IEEE 802.3: bit error ratio at most 1e-12 after error correction; one bit error spoils a "
    "frame";
constexpr std::string_view kPcieWhy =
    "PCI Express Base: bit error ratio at most 1e-12; one bit error repeats one packet, and a "
    "payload byte takes 10 bits on the wire with headers";
constexpr std::string_view kNvlinkWhy =
    "NVIDIA publishes no bound for NVLink; 1e-12 is assumed, as for PCI Express and Ethernet";

constexpr std::string_view kCable =
    "check the port's cable, transceiver and switch port; swap the cable and rerun";
constexpr std::string_view kSeat = "reseat the card or its riser and rerun";
constexpr std::string_view kReplace = "replace it: its memory lost data";

using Names = std::vector<std::string_view>;

CounterRule shown(std::string_view source, std::string_view counter, Names bytes = {}) {
  return {.source = source, .counter = counter, .bytes = std::move(bytes)};
}

/// The first error counts.
CounterRule judged(std::string_view source, std::string_view counter, CounterKind kind,
                   std::string_view why, std::string_view next_step, Names bytes = {}) {
  return {source, counter, kind, 0.0, std::move(bytes), 8.0, {}, why, next_step};
}

/// At most one error in 1e12 bits.
CounterRule limited(std::string_view source, std::string_view counter, Names bytes,
                    std::string_view why, std::string_view next_step,
                    std::string_view link_rate = {}, double bits_per_byte = 8.0) {
  return {source,    counter, CounterKind::rate, kOneIn1e12, std::move(bytes), bits_per_byte,
          link_rate, why,     next_step};
}

std::vector<CounterRule> make_rules() {
  const Names received = {"received_bytes"}, sent = {"sent_bytes"};
  const Names both = {"received_bytes", "sent_bytes"};
  const Names pcie = {"pcie_received_bytes", "pcie_sent_bytes"};
  const Names nvlink = {"nvlink_received_bytes", "nvlink_sent_bytes"};
  return {judged(kPort, "link_downed", kHard, "the link must stay up", kCable, both),
          limited(kPort, "symbol_errors", received, kIbWhy, kCable, "link_rate"),
          limited(kPort, "link_recoveries", received, kIbWhy, kCable, "link_rate"),
          limited(kPort, "local_link_integrity", received, kIbWhy, kCable, "link_rate"),
          limited(kPort, "received_errors", received, kIbPacketWhy, kCable),
          shown(kPort, "send_discards", sent),
          shown(kPort, "out_of_sequence", received),
          shown(kPort, "retries_exceeded", sent),
          shown(kPort, "congestion_sent", received),
          shown(kPort, "congestion_handled", sent),
          shown(kPort, "send_waits", sent),
          limited(kNet, "received_errors", received, kEthernetWhy, kCable),
          limited(kNet, "sent_errors", sent, kEthernetWhy, kCable),
          shown(kNet, "received_drops", received),
          shown(kNet, "sent_drops", sent),
          limited(kNic, "crc_errors", received, kEthernetWhy, kCable),
          shown(kNic, "pauses_received", both),
          shown(kNic, "pauses_sent", both),
          shown(kNic, "discards_received", received),
          judged(kGpu, "ecc_uncorrected", kHard, "data was lost", kReplace),
          judged(kGpu, "remapped_rows_uncorrected", kHard, "data was lost", kReplace),
          judged(kGpu, "remapped_rows_failed", kHard, "no spare rows are left", kReplace),
          judged(kGpu, "remapped_rows_pending", kDoubt, "memory rows are pending remap",
                 "reset the GPU and rerun"),
          judged(kGpu, "remapped_rows_corrected", kDoubt, "a worn memory row was remapped",
                 "reset the GPU and rerun: it must not recur"),
          shown(kGpu, "ecc_corrected"),
          limited(kGpu, "pcie_replays", pcie, kPcieWhy, kSeat, {}, kPcieBits),
          limited(kGpu, "nvlink_crc_flit_errors", nvlink, kNvlinkWhy, kSeat),
          limited(kGpu, "nvlink_replay_errors", nvlink, kNvlinkWhy, kSeat),
          limited(kGpu, "nvlink_recovery_errors", nvlink, kNvlinkWhy, kSeat),
          judged(kMemory, "uncorrected", kHard, "data was lost",
                 "replace the memory module named in the kernel log"),
          shown(kMemory, "corrected"),
          judged(kPcie, "fatal", kHard, "the link had to be reset", kSeat),
          judged(kPcie, "non_fatal", kDoubt, "a request was lost or rejected", kSeat),
          shown(kPcie, "corrected"),
          judged(kCpu, "machine_checks", kHard, "the processor detected a hardware error",
                 "check the kernel or rasdaemon log for the bank and address"),
          shown(kCpu, "thermal_throttles")};
}

}  // namespace

const CounterRule* counter_rule(std::string_view source, std::string_view counter) {
  static const std::vector<CounterRule> rules = make_rules();
  const auto found = std::ranges::find_if(rules, [&](const CounterRule& rule) {
    const bool same =
        rule.source.front() == '.' ? source.ends_with(rule.source) : source == rule.source;
    return same && rule.counter == counter;
  });
  return found == rules.end() ? nullptr : &*found;
}

namespace {

/// "mlx5_0.1" and "symbol_errors"; for a GPU the source names the device.
std::pair<std::string, std::string> split(const std::string& source, const std::string& column) {
  if (source.ends_with(".health")) return {source.substr(0, source.find('.')), column};
  const auto dot = column.rfind('.');
  if (dot == std::string::npos) return {"", column};
  return {column.substr(0, dot), column.substr(dot + 1)};
}

void fill_by_jobs(const Volumes& volumes, HostCounter& counter) {
  const auto volume = volumes.find(counter.device);
  if (counter.rule->counter != "pcie_replays" || volume == volumes.end()) return;
  counter.bytes = volume->second.least;
  counter.bits = volume->second.least * counter.rule->bits_per_byte;
  counter.most_bits = volume->second.most * counter.rule->bits_per_byte;
  counter.case_name = volume->second.case_name;
  counter.by_jobs = true;
}

}  // namespace

void CounterSums::add(const Json& facts, const std::string& job, const std::string& case_name) {
  if (const std::string problem = text_field(facts, "problem"); !problem.empty()) {
    problem_ = problem;
    return;
  }
  const double seconds = std::max(number_field(facts, "seconds", 0.0), 0.0);
  for (const auto& [source, columns] : object_field(facts, "counters").items())
    for (const auto& [column, value] : columns.items()) {
      Sum& sum = sources_[source][column];
      if (!value.is_number()) continue;  // listed among the broken
      const double grown = std::max(value.get<double>(), 0.0);
      sum.count += grown;
      ++sum.jobs;
      if (grown > sum.most) sum.most = grown, sum.job = job, sum.case_name = case_name;
    }
  for (const auto& [source, columns] : object_field(facts, "gauges").items())
    for (const auto& [column, value] : columns.items()) {
      if (!value.is_number()) continue;
      Sum& sum = sources_[source][column];
      sum.integral += value.get<double>() * seconds;
      if (value.get<double>() > sum.highest) sum.highest = value.get<double>(), sum.job = job;
      ++sum.jobs;
    }
  for (const auto& [source, columns] : object_field(facts, "broken").items())
    for (const auto& [column, times] : columns.items()) ++sources_[source][column].broken;
}

const CounterSums::Sum* CounterSums::find(const std::string& source,
                                          const std::string& column) const {
  const auto columns = sources_.find(source);
  if (columns == sources_.end()) return nullptr;
  const auto sum = columns->second.find(column);
  return sum == columns->second.end() ? nullptr : &sum->second;
}

void CounterSums::fill_bits(const std::string& source, HostCounter& counter) const {
  const CounterRule& rule = *counter.rule;
  const bool gpu = source.ends_with(".health");
  const std::string from = gpu                         ? counter.device + ".traffic"
                           : source == "host.ethernet" ? "host.network"
                                                       : source;
  const std::string prefix = gpu ? "" : counter.device + ".";
  double bytes = 0.0, most = -1.0;
  bool known = false;
  for (const std::string_view column : rule.bytes) {
    const Sum* sum = find(from, prefix + std::string(column));
    if (sum == nullptr || (sum->jobs == 0 && sum->broken > 0)) continue;
    known = true;
    bytes += sum->count;
    if (sum->most > most) most = sum->most, counter.case_name = sum->case_name;
  }
  if (!known) return;
  counter.bytes = bytes;
  counter.bits = counter.most_bits = bytes * rule.bits_per_byte;
  if (rule.link_rate.empty()) return;
  const Sum* rate = find(source, prefix + std::string(rule.link_rate));
  if (rate == nullptr || 8.0 * rate->integral <= counter.bits) return;
  counter.bits = counter.most_bits = 8.0 * rate->integral;
  counter.by_time = true;
}

std::string HostCounter::title() const {
  std::string text = fmt::format("{:.10g} {}", count, rule->counter);
  if (!device.empty()) text += " of " + device;
  if (by_time)
    return text + fmt::format(" over {:.3g} link bits while jobs ran, {} of them data", bits,
                              format(Bytes{bytes}));
  if (by_jobs) return text + " over at least " + format(Bytes{bytes}) + " copied by its jobs";
  return std::isfinite(bytes) ? text + " over " + format(Bytes{bytes}) : text;
}

std::vector<HostCounter> CounterSums::counters(const Volumes& volumes) const {
  std::vector<HostCounter> found;
  for (const auto& [source, columns] : sources_)
    for (const auto& [column, sum] : columns) {
      auto [device, name] = split(source, column);
      const CounterRule* rule = counter_rule(source, name);
      if (rule == nullptr) continue;
      HostCounter counter{std::move(device), rule, sum.count > 0.0 ? sum.count : sum.highest};
      counter.known = sum.jobs > 0;
      counter.broken = sum.broken;
      counter.job = sum.job;
      counter.case_name = sum.case_name;
      fill_bits(source, counter);
      if (!(counter.bytes > 0.0)) fill_by_jobs(volumes, counter);
      found.push_back(std::move(counter));
    }
  return found;
}

}  // namespace bench
