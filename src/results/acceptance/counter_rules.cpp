#include "results/acceptance/counter_rules.h"

#include <algorithm>

namespace bench {
namespace {

constexpr auto kHard = CounterKind::hard;
constexpr auto kDoubt = CounterKind::doubt;
constexpr auto kRate = CounterKind::rate;
constexpr auto kShown = CounterKind::shown;

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

std::vector<CounterRule> make_rules() {
  const std::vector<std::string_view> received = {"received_bytes"}, sent = {"sent_bytes"};
  const std::vector<std::string_view> both = {"received_bytes", "sent_bytes"};
  const std::vector<std::string_view> pcie = {"pcie_received_bytes", "pcie_sent_bytes"};
  const std::vector<std::string_view> nvlink = {"nvlink_received_bytes", "nvlink_sent_bytes"};
  return {
      {kPort, "link_downed", kHard, 0, both, 8, {}, "the link must stay up", kCable},
      {kPort, "symbol_errors", kRate, kOneIn1e12, received, 8, "link_rate", kIbWhy, kCable},
      {kPort, "link_recoveries", kRate, kOneIn1e12, received, 8, "link_rate", kIbWhy, kCable},
      {kPort, "local_link_integrity", kRate, kOneIn1e12, received, 8, "link_rate", kIbWhy, kCable},
      {kPort, "received_errors", kRate, kOneIn1e12, received, 8, {}, kIbPacketWhy, kCable},
      {kPort, "send_discards", kShown, 0, sent},
      {kPort, "out_of_sequence", kShown, 0, received},
      {kPort, "retries_exceeded", kShown, 0, sent},
      {kPort, "congestion_sent", kShown, 0, received},
      {kPort, "congestion_handled", kShown, 0, sent},
      {kPort, "send_waits", kShown, 0, sent},
      {kNet, "received_errors", kRate, kOneIn1e12, received, 8, {}, kEthernetWhy, kCable},
      {kNet, "sent_errors", kRate, kOneIn1e12, sent, 8, {}, kEthernetWhy, kCable},
      {kNet, "received_drops", kShown, 0, received},
      {kNet, "sent_drops", kShown, 0, sent},
      {kNic, "crc_errors", kRate, kOneIn1e12, received, 8, {}, kEthernetWhy, kCable},
      {kNic, "pauses_received", kShown, 0, both},
      {kNic, "pauses_sent", kShown, 0, both},
      {kNic, "discards_received", kShown, 0, received},
      {kGpu, "ecc_uncorrected", kHard, 0, {}, 8, {}, "data was lost", kReplace},
      {kGpu, "remapped_rows_uncorrected", kHard, 0, {}, 8, {}, "data was lost", kReplace},
      {kGpu, "remapped_rows_failed", kHard, 0, {}, 8, {}, "no spare rows are left", kReplace},
      {kGpu,
       "remapped_rows_pending",
       kDoubt,
       0,
       {},
       8,
       {},
       "memory rows are pending remap",
       "reset the GPU and rerun"},
      {kGpu,
       "remapped_rows_corrected",
       kDoubt,
       0,
       {},
       8,
       {},
       "a worn memory row was remapped",
       "reset the GPU and rerun: it must not recur"},
      {kGpu, "ecc_corrected", kShown},
      {kGpu, "pcie_replays", kRate, kOneIn1e12, pcie, kPcieBits, {}, kPcieWhy, kSeat},
      {kGpu, "nvlink_crc_flit_errors", kRate, kOneIn1e12, nvlink, 8, {}, kNvlinkWhy, kSeat},
      {kGpu, "nvlink_replay_errors", kRate, kOneIn1e12, nvlink, 8, {}, kNvlinkWhy, kSeat},
      {kGpu, "nvlink_recovery_errors", kRate, kOneIn1e12, nvlink, 8, {}, kNvlinkWhy, kSeat},
      {kMemory,
       "uncorrected",
       kHard,
       0,
       {},
       8,
       {},
       "data was lost",
       "replace the memory module named in the kernel log"},
      {kMemory, "corrected", kShown},
      {kPcie, "fatal", kHard, 0, {}, 8, {}, "the link had to be reset", kSeat},
      {kPcie, "non_fatal", kDoubt, 0, {}, 8, {}, "a request was lost or rejected", kSeat},
      {kPcie, "corrected", kShown},
      {kCpu,
       "machine_checks",
       kHard,
       0,
       {},
       8,
       {},
       "the processor detected a hardware error",
       "check the kernel or rasdaemon log for the bank and address"},
      {kCpu, "thermal_throttles", kShown}};
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

}  // namespace bench
