#include "probes/storage/checkpoint_interval.h"

#include <algorithm>
#include <cmath>

namespace bench::storage {

CheckpointInterval best_interval(Seconds cost, Seconds mtbf, Seconds restart) {
  const double c = cost.value, m = mtbf.value;
  const double young = std::sqrt(2.0 * c * m);
  const double ratio = c / (2.0 * m);
  const double daly = c < 2.0 * m ? young * (1.0 + std::sqrt(ratio) / 3.0 + ratio / 9.0) - c : m;
  const double between = daly + c;
  const double lost = (between > 0.0 ? c / between : 0.0) + (daly / 2.0 + restart.value) / m;
  return {{young}, {daly}, std::min(lost, 1.0)};
}

}  // namespace bench::storage
