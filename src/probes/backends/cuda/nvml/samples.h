// What GPUs do while a job runs, as counter sources for the sampler thread. Each GPU has five, by
// how often they may be asked: NVML holds a lock of the driver during each call, so asking costs
// the workload, not only us. Never asked while a job runs: processes and fans, which take
// milliseconds.
#pragma once

#include <memory>

#include "probes/backends/cuda/nvml/library.h"
#include "probes/telemetry/counter_source.h"

namespace bench {

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
}  // namespace bench
