// The host's two clocks: the one on the wall and the one of this process.
#pragma once

#include <time.h>

#include <chrono>

#include "core/units.h"

namespace bench {

/// Since some moment; never set back.
inline Seconds steady_now() {
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

/// Of a clock of the kernel: CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID.
inline Seconds cpu_time_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return {static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9};
}

}  // namespace bench
