#include "probes/facts/allowed_cpus.h"

#include <sched.h>

#include <cerrno>
#include <memory>

#include "core/error.h"

namespace bench {

std::vector<int> allowed_cpus() {
  // The kernel refuses a mask with room for fewer processors than it knows.
  for (int most = CPU_SETSIZE;; most *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(most)), [](cpu_set_t* mask) { CPU_FREE(mask); });
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      constexpr int kMost = 1 << 20;
      if (errno == EINVAL && most < kMost) continue;
      throw_errno("read the CPU affinity mask");
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < most; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) cpus.push_back(cpu);
    return cpus;
  }
}

}  // namespace bench
