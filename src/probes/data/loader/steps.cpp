#include "probes/data/loader/steps.h"

#include <time.h>

#include <cerrno>
#include <cmath>

namespace bench::data {

Step sleeping_step(Seconds length) {
  if (length.value <= 0.0) return [] {};
  return [length] {
    timespec until{};
    ::clock_gettime(CLOCK_MONOTONIC, &until);
    const double whole = std::floor(length.value);
    until.tv_sec += static_cast<time_t>(whole);
    until.tv_nsec += static_cast<long>((length.value - whole) * 1e9);
    if (until.tv_nsec >= 1'000'000'000) {
      until.tv_nsec -= 1'000'000'000;
      ++until.tv_sec;
    }
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  };
}

}  // namespace bench::data
