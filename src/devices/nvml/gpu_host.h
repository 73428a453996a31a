// What a rank on a host with GPUs says of it and reads on it. NVML is asked once, guarded; only a
// driver that answered is asked again while jobs run.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/record.h"
#include "core/system_files.h"
#include "devices/counters/counter_source.h"
#include "devices/nvml/guarded.h"
#include "devices/nvml/library.h"

namespace bench {

// What GPUs do while a job runs, as counter sources for the sampler thread. Each GPU has five, by
// how often they may be asked: NVML holds a lock of the driver during each call, so asking costs
// the workload, not only us. Never asked while a job runs: processes and fans, which take
// milliseconds.

/// The sources of all GPUs ("gpu0.fast": 10 Hz at most, "gpu0.activity": 5 Hz where GPM is there,
/// "gpu0.slow": 1 Hz, "gpu0.health" and "gpu0.traffic": 0.1 Hz). Calls NVML in this process: ask
/// read_gpu_facts first, and only a driver that answered it. None where NVML cannot be used.
CounterSources gpu_counters(const std::string& library = nvml::kDefaultLibrary);

namespace nvml {

// The kinds of one GPU; `name` is "gpu0".
std::unique_ptr<CounterSource> fast_counters(std::shared_ptr<const Library> nvml, Device device,
                                             const std::string& name);
std::unique_ptr<CounterSource> slow_counters(std::shared_ptr<const Library> nvml, Device device,
                                             const std::string& name);
std::unique_ptr<CounterSource> health_counters(std::shared_ptr<const Library> nvml, Device device,
                                               const std::string& name);
/// Bytes over PCIe and NVLink, which the errors of `health` are held against.
std::unique_ptr<CounterSource> traffic_counters(std::shared_ptr<const Library> nvml, Device device,
                                                const std::string& name);
/// Empty where the GPU has no GPM (before Hopper) or the driver is older than it. Nothing stands in
/// for it: what NVML calls utilisation is 100 % whenever any kernel runs.
std::unique_ptr<CounterSource> activity_counters(std::shared_ptr<const Library> nvml, Device device,
                                                 const std::string& name);

}  // namespace nvml

class GpuHost {
 public:
  explicit GpuHost(std::string library = nvml::kDefaultLibrary, const Guard& guard = {},
                   SystemFiles files = SystemFiles())
      : library_(std::move(library)), guard_(guard), files_(std::move(files)) {}

  /// "gpus" and "preflight". To be called before this process has a CUDA context, because it forks.
  /// `own`: processes of this job, which are not foreign: other ranks may be on their GPUs already.
  std::vector<Facts> facts(const std::set<int>& own = {});
  /// The driver's library for this process, for what is asked while jobs run; null where the driver
  /// did not answer in time. Asks it, guarded, where facts() has not.
  std::shared_ptr<const nvml::Library> nvml();
  /// Those of the host, and of its GPUs where facts() met a driver that answers.
  CounterSources counters() const;

 private:
  std::string library_;
  Guard guard_;
  SystemFiles files_;
  bool asked_ = false;
  bool answers_ = false;
};

}  // namespace bench
