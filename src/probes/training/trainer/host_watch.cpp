#include "probes/training/trainer/host_watch.h"

#include <array>
#include <optional>

namespace bench::training {
namespace {

constexpr double kUnknown = -1.0;  // valid values are not negative

Json or_null(double value) { return value < 0.0 ? Json(nullptr) : Json(value); }

}  // namespace

Json HostWatch::facts() {
  const HostPressure now = HostPressure::now();
  const auto others = crowding_.others_share();
  std::array<double, 2> worst = {steal_share(before_, now).value_or(kUnknown),
                                 throttled(before_, now).value_or(kUnknown)};
  group_.max(worst);
  return {{"others_share", others ? Json(*others) : Json(nullptr)},
          {"steal_share", or_null(worst[0])},
          {"throttled_s", or_null(worst[1])}};
}

}  // namespace bench::training
