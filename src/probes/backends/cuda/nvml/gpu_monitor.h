// What is asked of a rank's own GPU alongside its measurements: what holds its clock down, which Xids
// the driver reported, which links it has.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/units.h"
#include "probes/backends/cuda/nvml/kernel_log.h"
#include "probes/backends/cuda/nvml/library.h"
#include "probes/device.h"

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
