#include "probes/training/trainer/usable_cpus.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace bench::training {

int usable_cpus(int most) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const bool known = sched_getaffinity(0, sizeof mask, &mask) == 0;
  const int count =
      known ? CPU_COUNT(&mask) : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(count, 1, most);
}

}  // namespace bench::training
