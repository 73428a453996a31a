#include "probes/backends/cuda/nvml/gpu_host.h"

#include <iterator>

#include "probes/backends/cuda/nvml/facts.h"
#include "probes/backends/cuda/nvml/samples.h"
#include "probes/preflight_facts.h"
#include "probes/telemetry/host_counters.h"

namespace bench {

std::vector<Facts> GpuHost::facts() {
  const Json gpus = read_gpu_facts(library_, guard_);
  answers_ = !is_unreadable(gpus);
  return {{"gpus", gpus}, {"preflight", read_preflight_facts(files_, gpus)}};
}

CounterSources GpuHost::counters() const {
  CounterSources sources = host_counters(files_);
  if (!answers_) return sources;
  CounterSources gpus = gpu_counters(library_);
  sources.insert(sources.end(), std::make_move_iterator(gpus.begin()),
                 std::make_move_iterator(gpus.end()));
  return sources;
}

}  // namespace bench
