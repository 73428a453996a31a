#include "devices/counters/error_counters.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "devices/counters/counter_source.h"
#include "devices/counters/host_counters.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

const std::string kNic = "sys/bus/pci/devices/0000:3b:00.0/";
const std::string kPort = "sys/class/infiniband/mlx5_0/ports/1/";

class ErringHost {
 public:
  ErringHost() {
    write("sys/devices/system/edac/mc/mc0/ce_count", "12\n");
    write("sys/devices/system/edac/mc/mc0/ue_count", "1\n");
    write(kNic + "class", "0x020700\n");
    write(kNic + "aer_dev_correctable", "RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3\n");
    write(kNic + "aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 4\n");
    write(kNic + "aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 5\n");
    write("sys/bus/pci/devices/0000:00:1f.3/class", "0x040300\n");  // sound: nobody's matter
    write("sys/bus/pci/devices/0000:00:1f.3/aer_dev_correctable", "TOTAL_ERR_COR 9\n");
    write("proc/interrupts",
          "            CPU0       CPU1\n   0:    5   6   IO-APIC  timer\n MCE:          1          "
          "2   "
          "Machine check exceptions\n MCP:  88  88   Machine check polls\n");
    write("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "2\n");
    write("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "5\n");
    write("sys/devices/system/cpu/cpufreq/boost", "1\n");
    for (const auto& [file, count] :
         std::map<std::string, std::string>{{"port_rcv_data", "1000"},
                                            {"symbol_error", "7"},
                                            {"link_error_recovery", "255"},
                                            {"link_downed", "1"},
                                            {"port_rcv_errors", "3"},
                                            {"port_xmit_discards", "2"},
                                            {"local_link_integrity_errors", "15"}})
      write(kPort + "counters/" + file, count + "\n");
    write(kPort + "rate", "400 Gb/sec (4X NDR)\n");
  }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  SystemFiles files() const { return SystemFiles(folder_.path()); }

 private:
  TemporaryDirectory folder_;
};

double value(CounterSource& source, const std::string& name) {
  const auto columns = source.columns();
  std::vector<double> values(columns.size(), -1.0);
  source.read(values);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name) return values[i];
  throw std::runtime_error("no column " + name);
}

Recording recording(const std::string& source, CounterColumn column, std::vector<double> values) {
  Recording made;
  made.source = source;
  made.columns = {std::move(column)};
  for (std::size_t i = 0; i < values.size(); ++i) made.times.push_back(double(i));
  made.values = {std::move(values)};
  return made;
}

const CounterColumn kErrors{"eth0.received_errors", "count", CounterColumn::counter};

TEST_CASE("errors of memory controllers, PCIe links and processors are read") {
  const ErringHost host;
  const auto memory = memory_error_counters(host.files());
  CHECK(value(*memory, "mc0.corrected") == 12);
  CHECK(value(*memory, "mc0.uncorrected") == 1);
  const auto pcie = pcie_error_counters(host.files());
  CHECK(pcie->columns().size() == 3);
  CHECK(value(*pcie, "0000:3b:00.0.corrected") == 3);
  CHECK(value(*pcie, "0000:3b:00.0.non_fatal") == 4);
  CHECK(value(*pcie, "0000:3b:00.0.fatal") == 5);
  const auto cpu = cpu_error_counters(host.files());
  CHECK(value(*cpu, "cpu.machine_checks") == 3);
  CHECK(value(*cpu, "cpu.thermal_throttles") == 7);
}

TEST_CASE(
    "errors of a port are read, its link's rate too, and a counter at its end tells nothing") {
  const ErringHost host;
  const auto port = infiniband_counters(host.files());
  CHECK(value(*port, "mlx5_0.1.symbol_errors") == 7);
  CHECK(value(*port, "mlx5_0.1.link_downed") == 1);
  CHECK(value(*port, "mlx5_0.1.received_errors") == 3);
  CHECK(value(*port, "mlx5_0.1.send_discards") == 2);
  CHECK(std::isnan(value(*port, "mlx5_0.1.link_recoveries")));
  CHECK(std::isnan(value(*port, "mlx5_0.1.local_link_integrity")));
  CHECK(value(*port, "mlx5_0.1.link_rate") == 50e9);
}

TEST_CASE("a machine without such devices has no such sources, and garbage is unknown") {
  const TemporaryDirectory empty;
  const SystemFiles none(empty.path());
  CHECK(memory_error_counters(none) == nullptr);
  CHECK(pcie_error_counters(none) == nullptr);
  CHECK(cpu_error_counters(none) == nullptr);
  ErringHost host;
  const auto memory = memory_error_counters(host.files());
  const auto pcie = pcie_error_counters(host.files());
  for (const char* garbage : {"", "-3", "x y", "TOTAL_ERR_COR", "TOTAL_ERR_COR -1"}) {
    host.write("sys/devices/system/edac/mc/mc0/ue_count", garbage);
    host.write(kNic + "aer_dev_correctable", garbage);
    CHECK(std::isnan(value(*memory, "mc0.uncorrected")));
    CHECK(std::isnan(value(*pcie, "0000:3b:00.0.corrected")));
  }
}

TEST_CASE(
    "a network card's pauses, discards and damaged frames are found under its driver's names") {
  ErringHost host;
  host.write("sys/class/net/eth0/device/vendor", "0x15b3");
  host.write("sys/class/net/eth1/device/vendor", "0x14e4");
  host.write("sys/class/net/veth7/mtu", "1500");
  const ReadNic read = [](const std::string& name) -> NicStatistics {
    if (name == "eth0")  // mlx5
      return {{"rx_prio0_pause", 1},           {"rx_prio3_pause", 10},
              {"rx_prio3_pause_duration", 99}, {"rx_pause_ctrl_phy", 2},
              {"tx_prio3_pause", 5},           {"rx_discards_phy", 7},
              {"rx_crc_errors_phy", 3},        {"rx_prio3_pause_transition", 9}};
    if (name == "eth1") return {{"rx_pause_frames", 4}, {"rx_crc_errors", 6}};  // bnxt_en
    throw std::runtime_error("an interface that is no hardware was asked");
  };
  const auto source = nic_counters(host.files(), read);
  CHECK(value(*source, "eth0.pauses_received") == 13);
  CHECK(value(*source, "eth0.pauses_sent") == 5);
  CHECK(value(*source, "eth0.discards_received") == 7);
  CHECK(value(*source, "eth0.crc_errors") == 3);
  CHECK(value(*source, "eth1.pauses_received") == 4);
  CHECK(value(*source, "eth1.crc_errors") == 6);
  CHECK(source->columns().size() == 6);
  CHECK(nic_counters(host.files(), [](const std::string&) { return NicStatistics(); }) == nullptr);
}

TEST_CASE("interfaces of this machine have statistics, a missing one has none") {
  CHECK(read_nic("no-such-interface").empty());
  CHECK(read_nic(std::string(300, 'x')).empty());
  for (const std::string& name : SystemFiles().entries("sys/class/net"))
    for (const auto& [statistic, count] : read_nic(name)) CHECK(count >= 0.0);
}

TEST_CASE("only sources that count errors or the related bytes are selected") {
  CounterSources all;
  for (const char* name : {"host.cpu", "host.network", "gpu0.fast", "gpu0.health", "gpu0.traffic"})
    all.push_back(std::make_unique<TableSource>(name, std::vector<CounterColumn>{kErrors},
                                                [](std::span<double>) {}));
  const CounterSources kept = error_sources(std::move(all));
  REQUIRE(kept.size() == 3);
  CHECK(kept[0]->name() == "host.network");
}

TEST_CASE(
    "what a counter grew is told; one that was reset or vanished is unknown, and said to be") {
  const auto total = [](CounterColumn column, std::vector<double> values) {
    return counter_totals({recording("host.network", std::move(column), std::move(values))}, 2.0);
  };
  const double gone = std::nan("");
  CHECK(total(kErrors, {5, 8})["counters"]["host.network"]["eth0.received_errors"] == 3);
  CHECK(total(kErrors, {5, 8})["broken"].empty());
  for (const auto& values : {std::vector<double>{5, 1}, {5, gone}, {gone, 5}}) {
    const Json told = total(kErrors, values);
    CHECK(told["counters"]["host.network"]["eth0.received_errors"].is_null());
    CHECK(told["broken"]["host.network"]["eth0.received_errors"] == 1);
  }
  const Json part = total(kErrors, {5, 1, 4});  // reset, then three more
  CHECK(part["counters"]["host.network"]["eth0.received_errors"] == 3);
  CHECK(part["broken"]["host.network"]["eth0.received_errors"] == 1);
  CounterColumn wraps = kErrors;
  wraps.wraps_at = 256.0;
  CHECK(total(wraps, {250, 4})["counters"]["host.network"]["eth0.received_errors"] == 10);
}

TEST_CASE("gauges keep their last value, and idle counters can be dropped") {
  Json told = counter_totals(
      {recording("gpu0.health", {"remapped_rows_pending", "count", CounterColumn::gauge}, {0, 1}),
       recording("host.network", kErrors, {4, 4})},
      2.0);
  CHECK(told["gauges"]["gpu0.health"]["remapped_rows_pending"] == 1);
  told["counters"]["gpu0.traffic"] = {{"pcie_sent_bytes", 1e9}, {"pcie_received_bytes", 64e3}};
  told["counters"]["gpu0.health"]["ecc_uncorrected"] = nullptr;
  drop_idle(told);
  CHECK_FALSE(told["counters"].contains("host.network"));
  CHECK(told["counters"]["gpu0.traffic"] == Json{{"pcie_sent_bytes", 1e9}});
  CHECK(told["counters"]["gpu0.health"].contains("ecc_uncorrected"));
  CHECK(told["gauges"]["gpu0.health"]["remapped_rows_pending"] == 1);
}

}  // namespace
}  // namespace bench
