#include "probes/shared/host_watch.h"

#include <array>

namespace bench {

Json HostWatch::facts() {
  constexpr double kUnknown = -1.0;  // valid values are not negative
  const auto or_null = [](double value) { return value < 0.0 ? Json(nullptr) : Json(value); };
  const HostPressure now = HostPressure::now();
  std::array<double, 3> worst = {crowding_.others_share().value_or(kUnknown),
                                 steal_share(before_, now).value_or(kUnknown),
                                 throttled(before_, now).value_or(kUnknown)};
  group_.max(worst);
  return {{"others_share", or_null(worst[0])},
          {"steal_share", or_null(worst[1])},
          {"throttled_s", or_null(worst[2])}};
}

}  // namespace bench
