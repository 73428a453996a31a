// What is asked of a rank's own GPU alongside its measurements: what holds its clock down, which
// Xids the driver reported, which links it has.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/units.h"
#include "devices/device.h"
#include "devices/nvml/library.h"

namespace bench::nvml {

// NVIDIA's Xid: a number by which the driver says what went wrong on a GPU. Which ones spoil a
// measurement, and how the kernel's log spells them.

/// In words, "Xid 79: the GPU has fallen off the bus"; `log_text` is what the kernel's log said
/// alongside the number, or "". Fatal: what "Analyzing Xid Errors with the Xid Catalog" (NVIDIA,
/// 2026) answers with a reset of the GPU or a reboot of the machine (but 155, which links that
/// sleep on purpose raise); 94, a memory error that ended with the application that met it: us; and
/// 167, 171, 172, which the catalogue leaves without an answer.
DeviceFault describe_xid(unsigned number, const std::string& log_text = {});

struct LoggedXid {
  std::string pci_address;  // "0000:3b:00", without the function, in small letters
  unsigned number = 0;
  std::string text;  // what follows the number
};

/// Of a line "... NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."; older
/// drivers leave "PCI:" away, and with MIG the parentheses hold more. Nothing for any other line.
std::optional<LoggedXid> parse_xid(std::string_view line);

}  // namespace bench::nvml

namespace bench {

// What the kernel logs from now on, where this process may read it (often only root may). A driver
// says in words there what NVML tells as a number, and says it even when NVML does not answer.

class KernelLog {
 public:
  /// Begins at the log's end.
  explicit KernelLog(const std::string& path = "/dev/kmsg");
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  /// The lines since the last call, at most some thousands. Never waits.
  std::vector<std::string> take();

 private:
  int file_ = -1;
};

}  // namespace bench

namespace bench::nvml {

struct MonitorSettings {
  /// Reasons are asked no more often: a call holds a lock of the driver.
  Seconds period{0.005};
  /// How long faults() waits for a driver that hangs, as it may behind the worst of them.
  Seconds patience{1.0};
  std::string kernel_log = "/dev/kmsg";
};

class GpuMonitor {
 public:
  /// Null where NVML does not know the GPU ("GPU-8c2b..."), as for a part of one (MIG).
  static std::unique_ptr<GpuMonitor> find(std::shared_ptr<const Library> nvml,
                                          const std::string& uuid,
                                          const MonitorSettings& settings = {});
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  /// SampleFlag bits, as Device::slowdown() says.
  unsigned slowdown();
  /// The Xids of this GPU since the last call, by NVML's events and by the kernel's log.
  std::vector<DeviceFault> faults();
  /// "nvlinks": active ones; "c2c_links" and "c2c_bytes_per_second" one way: active ones. What the
  /// driver does not tell is left out.
  Json links() const;

 private:
  struct Events;
  GpuMonitor(std::shared_ptr<const Library> nvml, Device device, const MonitorSettings& settings);
  std::vector<unsigned> event_numbers();

  std::shared_ptr<const Library> nvml_;
  Device device_;
  MonitorSettings settings_;
  std::string address_;  // "0000:3b:00"
  KernelLog log_;
  std::shared_ptr<Events> events_;  // shared with a thread that may have to be left behind
  unsigned last_slowdown_ = 0;
  std::chrono::steady_clock::time_point asked_{};
};

/// The flags of a set of reasons (nvmlClocksEventReasons).
unsigned slowdown_flags(unsigned long long reasons);

}  // namespace bench::nvml
