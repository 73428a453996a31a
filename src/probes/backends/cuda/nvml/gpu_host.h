// What a rank on a host with GPUs says of it and reads on it. NVML is asked once, guarded; only a
// driver that answered is asked again while jobs run.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/record.h"
#include "probes/backends/cuda/nvml/guarded.h"
#include "probes/backends/cuda/nvml/library.h"
#include "probes/facts/system_files.h"
#include "probes/telemetry/counter_source.h"

namespace bench {

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
