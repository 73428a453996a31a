#include "results/mlperf/score/run_window.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "results/training/olympic_mean.h"

namespace bench::mlperf {
namespace {

std::vector<std::size_t> by_launch(std::span<const double> launch_ms) {
  std::vector<std::size_t> order(launch_ms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto time = [&](std::size_t run) {
    return std::isnan(launch_ms[run]) ? HUGE_VAL : launch_ms[run];
  };
  std::ranges::stable_sort(order, {}, time);
  return order;
}

double mean_or_infinity(std::span<const double> minutes) {
  const double mean = olympic_mean(minutes).mean;
  return std::isfinite(mean) ? mean : HUGE_VAL;
}

std::size_t median_of(const std::vector<double>& means) {
  std::vector<std::size_t> order(means.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return means[i]; });
  return order[order.size() / 2];
}

}  // namespace

RunWindow median_window(std::span<const double> launch_ms, std::span<const double> minutes,
                        std::size_t count) {
  const std::vector<std::size_t> order = by_launch(launch_ms);
  std::vector<double> sorted;
  for (const std::size_t run : order) sorted.push_back(minutes[run]);
  RunWindow window;
  for (std::size_t first = 0; first + count <= sorted.size(); ++first)
    window.means.push_back(mean_or_infinity(std::span(sorted).subspan(first, count)));
  window.first = median_of(window.means);
  const auto begin = order.begin() + static_cast<std::ptrdiff_t>(window.first);
  window.runs.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  return window;
}

}  // namespace bench::mlperf
