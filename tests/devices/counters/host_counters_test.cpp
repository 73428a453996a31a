#include "devices/counters/host_counters.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

/// A machine made of files: one disk, two interfaces, one InfiniBand port, one power zone.
class FakeHost {
 public:
  FakeHost() {
    const std::map<std::string, std::string> files = {
        {"proc/stat", "cpu  1000 0 500 8000 70 0 0 30 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n"},
        {"proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n"},
        {"proc/meminfo", "MemTotal:  1000 kB\nMemAvailable:  600 kB\nDirty:  8 kB\n"},
        {"proc/vmstat", "nr_free_pages 1\npgmajfault 77\n"},
        {"proc/diskstats",
         "   7  0 loop0 1 1 1 1 1 1 1 1 1 1 1\n 259  0 nvme0n1 10 0 200 5 20 0 400 9 0 1500 14\n"},
        {"sys/block/nvme0n1/device/model", "x"},
        {"sys/block/loop0/size", "0"},
        {"proc/net/dev",
         "Inter-|   Receive |  Transmit\n face |bytes packets errs drop fifo frame compressed "
         "multicast|bytes packets errs drop\n"
         "    lo: 9 9 9 9 9 9 9 9 9 9 9 9 0 0 0 0\n"
         "  eth0:1000 10 0 3 0 0 0 0 2000 20 0 4 0 0 0 0\n"
         " veth1: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n"},
        {"sys/class/net/eth0/device/vendor", "0x15b3"},
        {"sys/class/net/lo/mtu", "1"},
        {"sys/class/net/veth1/mtu", "1"},
        {"sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "1000\n"},
        {"sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "2000\n"},
        {"sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "1\n"},
        {"sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "6\n"},
        {"sys/class/powercap/intel-rapl:0/name", "package-0\n"},
        {"sys/class/powercap/intel-rapl:0/energy_uj", "5000000\n"},
        {"sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n"},
        {"sys/class/powercap/intel-rapl:0:0/energy_uj", "1\n"},
    };
    for (const auto& [path, text] : files) write(path, text);
  }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  void remove(const std::string& path) { std::filesystem::remove_all(folder_.path() / path); }
  SystemFiles files() const { return SystemFiles(folder_.path()); }

 private:
  TemporaryDirectory folder_;
};

std::map<std::string, double> read(CounterSource& source) {
  const auto columns = source.columns();
  std::vector<double> values(columns.size(), -1.0);
  source.read(values);
  std::map<std::string, double> named;
  for (std::size_t i = 0; i < columns.size(); ++i) named[columns[i].name] = values[i];
  return named;
}

using Values = std::map<std::string, double>;

TEST_CASE("CPU time is read in seconds over all processors") {
  const FakeHost host;
  const auto values = read(*cpu_counters(host.files()));
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  CHECK(values.at("busy_s") == Approx(1500 * tick));
  CHECK(values.at("iowait_s") == Approx(70 * tick));
  CHECK(values.at("steal_s") == Approx(30 * tick));
  CHECK(values.at("cpu_stalled_s") == Approx(2.5));
  CHECK(std::isnan(values.at("io_stalled_s")));  // this kernel does not say
}

TEST_CASE("memory is read in bytes") {
  const FakeHost host;
  const auto values = read(*memory_counters(host.files()));
  CHECK(values.at("used_bytes") == 400 * 1024);
  CHECK(values.at("available_bytes") == 600 * 1024);
  CHECK(values.at("dirty_bytes") == 8 * 1024);
  CHECK(values.at("major_faults") == 77);
}

TEST_CASE("disks that are hardware are read") {
  const FakeHost host;
  CHECK(read(*disk_counters(host.files())) == Values{{"nvme0n1.read_bytes", 200 * 512.0},
                                                     {"nvme0n1.write_bytes", 400 * 512.0},
                                                     {"nvme0n1.busy_s", 1.5}});
}

TEST_CASE("interfaces are read, all but the loop, hardware first") {
  FakeHost host;
  const auto source = network_counters(host.files());
  CHECK(source->columns().front().name == "eth0.received_bytes");
  CHECK(read(*source) == Values{{"eth0.received_bytes", 1000},
                                {"eth0.received_errors", 0},
                                {"eth0.received_drops", 3},
                                {"eth0.sent_bytes", 2000},
                                {"eth0.sent_errors", 0},
                                {"eth0.sent_drops", 4},
                                {"veth1.received_bytes", 5},
                                {"veth1.received_errors", 0},
                                {"veth1.received_drops", 0},
                                {"veth1.sent_bytes", 6},
                                {"veth1.sent_errors", 0},
                                {"veth1.sent_drops", 0}});
}

TEST_CASE("an interface that vanishes is unknown from then on, and the others stay") {
  FakeHost host;
  const auto source = network_counters(host.files());
  host.write("proc/net/dev", "  eth0:1500 10 0 3 0 0 0 0 2000 20 0 4 0 0 0 0\n");
  const auto values = read(*source);
  CHECK(values.at("eth0.received_bytes") == 1500);
  CHECK(std::isnan(values.at("veth1.received_bytes")));
}

TEST_CASE("a host with hundreds of interfaces is watched in part, its hardware in any case") {
  FakeHost host;
  for (int i = 0; i < 300; ++i) host.write("sys/class/net/aveth" + std::to_string(i) + "/mtu", "1");
  const auto columns = network_counters(host.files())->columns();
  CHECK(columns.size() == 16 * 6);
  CHECK(columns.front().name == "eth0.received_bytes");
}

TEST_CASE("an InfiniBand port's data is counted in words of four bytes, once a second") {
  const FakeHost host;
  const auto source = infiniband_counters(host.files());
  CHECK(source->least_period() == Seconds{1.0});
  CHECK(read(*source) == Values{{"mlx5_0.1.received_bytes", 4000},
                                {"mlx5_0.1.sent_bytes", 8000},
                                {"mlx5_0.1.symbol_errors", 1},
                                {"mlx5_0.1.out_of_sequence", 6}});
}

TEST_CASE("the energy of a package is read with the value at which it starts over") {
  const FakeHost host;
  const auto source = power_counters(host.files());
  REQUIRE(source->columns().size() == 1);
  CHECK(source->columns()[0].wraps_at == Approx(262143.32885));
  CHECK(read(*source) == Values{{"package-0.energy_j", 5.0}});
}

TEST_CASE("garbage in the files is unknown and does no harm") {
  FakeHost host;
  CounterSources sources = host_counters(host.files());
  REQUIRE(sources.size() == 6);
  for (const char* garbage :
       {"", "\n\n", "cpu\n", "cpu  x y z\n", "eth0:", "eth0: -5 -5 -5 -5 -5", "259 0 nvme0n1\n",
        "MemAvailable: many kB\n", "::::\n\t\t", "99999999999999999999999999"}) {
    INFO(garbage);
    for (const char* path :
         {"proc/stat", "proc/meminfo", "proc/vmstat", "proc/diskstats", "proc/net/dev",
          "proc/pressure/cpu", "sys/class/powercap/intel-rapl:0/energy_uj",
          "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data"})
      host.write(path, garbage);
    CHECK(std::isnan(read(*sources[0]).at("busy_s")));
    CHECK(std::isnan(read(*sources[1]).at("used_bytes")));
    CHECK(std::isnan(read(*sources[2]).at("nvme0n1.busy_s")));
    CHECK(std::isnan(read(*sources[3]).at("eth0.sent_bytes")));
    CHECK(std::isnan(read(*sources[4]).at("mlx5_0.1.received_bytes")));
    CHECK(std::isnan(read(*sources[5]).at("package-0.energy_j")));
  }
}

TEST_CASE("a host that shows nothing has no sources, and one without devices fewer") {
  const TemporaryDirectory empty;
  CHECK(host_counters(SystemFiles(empty.path())).empty());
  FakeHost host;
  for (const char* folder : {"sys/class/infiniband", "sys/class/powercap", "sys/block"})
    host.remove(folder);
  CHECK(host_counters(host.files()).size() == 3);
}

TEST_CASE("this machine's own counters can be read") {
  for (const auto& source : host_counters())
    if (source->name() == "host.cpu") {
      CHECK(read(*source).at("busy_s") > 0.0);
      return;
    }
  FAIL("no host.cpu");
}

}  // namespace
}  // namespace bench
