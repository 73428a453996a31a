#include "devices/nvml/gpu_monitor.h"

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "core/record.h"
#include "tests/support/catch.h"
#include "tests/support/fake_nvml.h"
#include "tests/support/temporary_directory.h"

namespace bench::nvml {
namespace {

const std::string kUuid = "GPU-12345678-9abc-def0-1234-56789abcdef0";

/// A monitor of the make-believe GPU and a kernel log that the test writes.
struct MonitorFixture {
  explicit MonitorFixture(const char* scenario) : fake(scenario) {
    std::ofstream(log) << "6,1,1,-;NVRM: Xid (PCI:0001:3b:00): 48, from before\n";
    monitor =
        GpuMonitor::find(std::make_shared<const Library>(fake.library()), kUuid,
                         {.period = Seconds{0.0}, .patience = Seconds{0.1}, .kernel_log = log});
  }
  void write(const std::string& line) { std::ofstream(log, std::ios::app) << line << "\n"; }

  FakeNvml fake;
  TemporaryDirectory folder;
  std::string log = (folder.path() / "kmsg").string();
  std::unique_ptr<GpuMonitor> monitor;
};

TEST_CASE("a GPU that NVML does not know has no monitor") {
  const FakeNvml nvml("healthy");
  CHECK(GpuMonitor::find(std::make_shared<const Library>(nvml.library()), "GPU-other") == nullptr);
  CHECK(GpuMonitor::find(nullptr, kUuid) == nullptr);
}

TEST_CASE("heat and the hardware's own protection are thermal, a power cap is only noted") {
  CHECK(slowdown_flags(0x0) == kClean);
  CHECK(slowdown_flags(0x1 | 0x2 | 0x10 | 0x100) == kClean);  // idle and what people set
  CHECK(slowdown_flags(0x4) == kPowerCapped);
  for (const unsigned long long reason : {0x8, 0x20, 0x40, 0x80})
    CHECK(slowdown_flags(reason) == kThermal);
  CHECK(MonitorFixture("throttling").monitor->slowdown() == (kThermal | kPowerCapped));
  CHECK(MonitorFixture("healthy").monitor->slowdown() == kClean);
  CHECK(MonitorFixture("errors").monitor->slowdown() == kClean);  // unknown is no accusation
}

TEST_CASE("an Xid is reported once, with the text of the kernel log if readable") {
  MonitorFixture f("healthy");
  CHECK(f.monitor->faults().empty());  // what the log held before is not ours
  setenv("FAKE_NVML_XID", "79", 1);
  f.write("6,2,2,-;usb 1-1: new device");
  f.write("3,3,3,-;NVRM: Xid (PCI:0001:3b:00): 79, pid=1234, GPU has fallen off the bus.");
  f.write("3,4,4,-;NVRM: Xid (PCI:0001:5e:00): 48, another GPU");
  f.write("4,5,5,-;NVRM: Xid (PCI:0001:3B:00): 63, a row");
  const auto faults = f.monitor->faults();
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].code == 79);
  CHECK(faults[0].fatal);
  CHECK(faults[0].text ==
        "Xid 79: the GPU has fallen off the bus (pid=1234, GPU has fallen off the bus.)");
  CHECK(faults[1].code == 63);
  CHECK_FALSE(faults[1].fatal);
  CHECK(f.monitor->faults().empty());
}

TEST_CASE(
    "a driver that hangs when it is asked for Xids costs a moment once; the log still tells") {
  MonitorFixture f("events_hang");
  const auto begin = std::chrono::steady_clock::now();
  CHECK(f.monitor->faults().empty());
  CHECK(f.monitor->faults().empty());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(took.count() < 5.0);
  f.write("3,3,3,-;NVRM: Xid (PCI:0001:3b:00): 119, Timeout waiting for RPC");
  REQUIRE(f.monitor->faults().size() == 1);
}

TEST_CASE("active links are counted, and unreported ones omitted") {
  const Json plain = MonitorFixture("healthy").monitor->links();
  CHECK(plain == Json{{"nvlinks", 1}});
  CHECK(MonitorFixture("no_nvlink").monitor->links() == Json{{"nvlinks", 0}});
  CHECK(MonitorFixture("errors").monitor->links() == Json::object());
  const Json chip = MonitorFixture("superchip").monitor->links();
  CHECK(chip.at("c2c_links") == 2);
  CHECK(chip.at("c2c_bytes_per_second") == Approx(2 * 44.712e9));
}

}  // namespace
}  // namespace bench::nvml
