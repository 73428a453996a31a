// What a rank on a host with GPUs says of it and reads on it. NVML is asked once, guarded; only a
// driver that answered is asked again while jobs run.
#pragma once

#include <string>
#include <vector>

#include "core/record.h"
#include "probes/backends/cuda/nvml/guarded.h"
#include "probes/backends/cuda/nvml/library.h"
#include "probes/system_files.h"
#include "probes/telemetry/counter_source.h"

namespace bench {

class GpuHost {
 public:
  explicit GpuHost(std::string library = nvml::kDefaultLibrary, const Guard& guard = {},
                   SystemFiles files = SystemFiles())
      : library_(std::move(library)), guard_(guard), files_(std::move(files)) {}

  /// "gpus" and "preflight". To be called before this process has a CUDA context: it forks, and its
  /// own context would be a process on the GPU.
  std::vector<Facts> facts();
  /// Those of the host, and of its GPUs where facts() met a driver that answers.
  CounterSources counters() const;

 private:
  std::string library_;
  Guard guard_;
  SystemFiles files_;
  bool answers_ = false;
};

}  // namespace bench
