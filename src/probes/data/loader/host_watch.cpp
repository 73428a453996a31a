#include "probes/data/loader/host_watch.h"

#include <time.h>

#include <algorithm>
#include <string>

#include "core/text.h"
#include "devices/crowding.h"
#include "devices/host_clock.h"

namespace bench::data {
namespace {

constexpr double kMostSteal = 0.02;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

HostWatch::HostWatch()
    : before_(HostPressure::now()), own_(cpu_time_of(CLOCK_PROCESS_CPUTIME_ID)) {}

std::optional<double> HostWatch::others_share() const {
  const HostPressure now = HostPressure::now();
  if (!before_.cpu || !now.cpu) return {};
  const double all = now.cpu->all_s - before_.cpu->all_s;
  const double busy = now.cpu->busy_s - before_.cpu->busy_s;
  const double own = (cpu_time_of(CLOCK_PROCESS_CPUTIME_ID) - own_).value;
  if (all <= 0.0) return {};
  return std::max(0.0, (busy - own) / all);
}

Json HostWatch::facts() const {
  const HostPressure now = HostPressure::now();
  const auto others = others_share();
  const auto steal = steal_share(before_, now), held = throttled(before_, now);
  std::string why;
  if (others.value_or(0.0) > kCrowdedShare)
    why = "other processes used " + format(*others, Unit::ratio) + " of this machine's CPU time";
  else if (steal.value_or(0.0) > kMostSteal)
    why = "CPU steal was " + format(*steal, Unit::ratio) + " of the CPU time";
  else if (held.value_or(0.0) > 0.0)
    why = "the cgroup CPU quota throttled this process for " + format(Seconds{*held});
  return {{"others_share", or_null(others)},
          {"steal_share", or_null(steal)},
          {"throttled_s", or_null(held)},
          {"disturbed", why.empty() ? Json(nullptr) : Json(why)}};
}

}  // namespace bench::data
