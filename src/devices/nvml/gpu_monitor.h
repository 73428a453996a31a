// Monitors the GPU of a rank during measurements: throttling, Xids reported by the driver, active
// links.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "core/json.h"
#include "core/units.h"
#include "devices/device.h"
#include "devices/nvml/library.h"

namespace bench::nvml {

/// "Xid 79: the GPU has fallen off the bus"; `log_text` is the text of the kernel log, or "". Fatal
/// are those for which "Analyzing Xid Errors with the Xid Catalog" (NVIDIA, 2026) recommends a GPU
/// reset or reboot (except 155, raised by links that sleep on purpose); 94, a memory error that
/// ended the affected application, which is this one; and 167, 171 and 172, without a
/// recommendation in the catalogue.
DeviceFault describe_xid(unsigned number, const std::string& log_text = {});

struct LoggedXid {
  std::string pci_address;  // "0000:3b:00", lower case, without the function
  unsigned number = 0;
  std::string text;  // after the number
};

/// Parses "... NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."; older
/// drivers omit "PCI:", and with MIG the parentheses contain more. Nothing for any other line.
std::optional<LoggedXid> parse_xid(std::string_view line);

/// New messages of the kernel log, if this process may read it (often only root may). The driver
/// logs there as text what NVML reports as a number, even when NVML does not answer.
class KernelLog {
 public:
  /// Starts at the end of the log.
  explicit KernelLog(const std::string& path = "/dev/kmsg");

  /// New lines, at most some thousands. Never waits.
  std::vector<std::string> take();

 private:
  Descriptor file_;
};

struct MonitorSettings {
  /// Minimum time between queries of reasons: a call holds a driver lock.
  Seconds period{0.005};
  /// How long faults() waits for a hanging driver.
  Seconds patience{1.0};
  std::string kernel_log = "/dev/kmsg";
};

class GpuMonitor {
 public:
  /// Null if NVML does not know the GPU ("GPU-8c2b..."), as for a MIG slice.
  static std::unique_ptr<GpuMonitor> find(std::shared_ptr<const Library> nvml,
                                          const std::string& uuid,
                                          const MonitorSettings& settings = {});
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  /// SampleFlag bits, see Device::slowdown().
  unsigned slowdown();
  /// New Xids of this GPU, from NVML events and the kernel log.
  std::vector<DeviceFault> faults();
  /// "nvlinks", "c2c_links" and "c2c_bytes_per_second" (one way) of active links; unknown values
  /// are absent.
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
  std::shared_ptr<Events> events_;  // shared with a thread that may hang
  unsigned last_slowdown_ = 0;
  std::chrono::steady_clock::time_point asked_{};
};

/// Flags for a set of reasons (nvmlClocksEventReasons).
unsigned slowdown_flags(unsigned long long reasons);

}  // namespace bench::nvml
