// GPU facts and counters of a host. NVML is queried once under a guard, and later only if the
// driver answered.
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

/// Counter sources of all GPUs, by permitted rate ("gpu0.fast": 10 Hz, "gpu0.activity": 5 Hz with
/// GPM, "gpu0.slow": 1 Hz, "gpu0.health" and "gpu0.traffic": 0.1 Hz): NVML holds a driver lock
/// during each call, which costs the workload. Never read during jobs: processes and fans, which
/// take milliseconds. Calls NVML in this process, so the driver must have answered read_gpu_facts.
/// Empty if NVML is unusable.
CounterSources gpu_counters(const std::string& library = nvml::kDefaultLibrary);

class GpuHost {
 public:
  explicit GpuHost(std::string library = nvml::kDefaultLibrary, const Guard& guard = {},
                   SystemFiles files = SystemFiles())
      : library_(std::move(library)), guard_(guard), files_(std::move(files)) {}

  /// "gpus" and "preflight". Call it before this process has a CUDA context, because it forks.
  /// `own`: processes of this job, which may already use GPUs and are not foreign.
  std::vector<Facts> facts(const std::set<int>& own = {});
  /// NVML for use during jobs; null if the driver did not answer in time. Queries it under the
  /// guard unless facts() has.
  std::shared_ptr<const nvml::Library> nvml();
  /// Counters of the host, and of its GPUs if the driver answered.
  CounterSources counters() const;

 private:
  std::string library_;
  Guard guard_;
  SystemFiles files_;
  bool asked_ = false;
  bool answers_ = false;
};

}  // namespace bench
