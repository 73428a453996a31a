#include "results/regression/shared_series.h"

#include "core/order_statistics.h"

namespace bench {

SharedSeries shared_series(const std::vector<Judged>& series, const Nights& nights,
                           const std::vector<double>& movement) {
  SharedSeries fleet;
  fleet.member.key = series.front().member->key;
  fleet.member.key.host.clear();
  fleet.member.key.id = 0;
  fleet.member.key.device = kind_of_device(fleet.member.key.device);
  fleet.member.values.assign(nights.count, {});
  std::vector<double> levels;
  for (std::size_t s = 0; s < series.size(); ++s) {
    for (std::size_t i = 0; i < nights.of[s].size(); ++i) {
      RunValue& night = fleet.member.values[nights.of[s][i]];
      if (night.run == 0) night = series[s].member->values[i];
    }
    levels.push_back(median(series[s].history.values));
  }
  const double level = median(levels), centre = median(movement);
  for (std::size_t night = 0; night < movement.size(); ++night) {
    fleet.axis.push_back(level + movement[night] - centre);
    fleet.member.values[night].value = series.front().scale.value(fleet.axis.back());
  }
  return fleet;
}

}  // namespace bench
