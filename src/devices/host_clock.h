// Steady time and CPU time.
#pragma once

#include <time.h>

#include <chrono>

#include "core/units.h"

namespace bench {

/// Since an arbitrary point in time; monotonic.
inline Seconds steady_now() {
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

/// For CLOCK_PROCESS_CPUTIME_ID or CLOCK_THREAD_CPUTIME_ID.
inline Seconds cpu_time_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return {static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9};
}

}  // namespace bench
