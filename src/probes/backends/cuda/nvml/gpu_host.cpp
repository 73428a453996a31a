#include "probes/backends/cuda/nvml/gpu_host.h"

#include <iterator>

#include "probes/backends/cuda/nvml/facts.h"
#include "probes/backends/cuda/nvml/samples.h"
#include "probes/facts/preflight_facts.h"
#include "probes/facts/unreadable.h"
#include "probes/telemetry/host_counters.h"
#include "probes/telemetry/nic_statistics.h"

namespace bench {

std::vector<Facts> GpuHost::facts(const std::set<int>& own) {
  const Json gpus = read_gpu_facts(library_, guard_);
  asked_ = true;
  answers_ = !is_unreadable(gpus);
  return {{"gpus", gpus}, {"preflight", read_preflight_facts(files_, gpus, own)}};
}

std::shared_ptr<const nvml::Library> GpuHost::nvml() {
  if (!asked_) {
    const Json count = guarded(
        [this]() -> Json {
          const nvml::Library library(library_);
          if (!library.problem().empty()) return unreadable(library.problem());
          unsigned gpus = 0;
          const nvml::Return code = library.device_count(&gpus);
          return code == nvml::kSuccess ? Json(gpus) : unreadable(library.text(code));
        },
        guard_);
    asked_ = true;
    answers_ = !is_unreadable(count);
  }
  return answers_ ? std::make_shared<const nvml::Library>(library_) : nullptr;
}

CounterSources GpuHost::counters() const {
  CounterSources sources = host_counters(files_, read_nic);
  if (!answers_) return sources;
  CounterSources gpus = gpu_counters(library_);
  sources.insert(sources.end(), std::make_move_iterator(gpus.begin()),
                 std::make_move_iterator(gpus.end()));
  return sources;
}

}  // namespace bench
