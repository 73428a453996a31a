#include "devices/cuda/candidates.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/order_statistics.h"

namespace bench {

std::size_t fastest(std::size_t count, int rounds,
                    const std::function<double(std::size_t)>& seconds_of) {
  constexpr double kTooSlow = 1.1;  // times the best
  if (count < 2) return 0;
  std::vector<std::vector<double>> seconds(count);
  std::vector<std::size_t> left(count);
  std::iota(left.begin(), left.end(), std::size_t{0});
  const auto median_of = [&](std::size_t which) { return median(seconds[which]); };
  for (int round = 0; round < rounds; round += 2) {
    for (const std::size_t which : left) seconds[which].push_back(seconds_of(which));
    std::ranges::reverse(left);
    for (const std::size_t which : left) seconds[which].push_back(seconds_of(which));
    std::ranges::reverse(left);
    const double most = kTooSlow * median_of(std::ranges::min(left, {}, median_of));
    if (round == 0) std::erase_if(left, [&](std::size_t which) { return median_of(which) > most; });
  }
  return std::ranges::min(left, {}, median_of);
}

}  // namespace bench
