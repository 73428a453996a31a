#include "probes/image_inference/early_stopping.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace bench {
namespace {

constexpr double kDoubt = 0.01;  // 1 - confidence

}  // namespace

double binomial_at_most(std::int64_t k, std::int64_t n, double chance) {
  const double all = std::lgamma(static_cast<double>(n) + 1.0);
  double sum = 0.0;
  for (std::int64_t i = 0; i <= std::min(k, n); ++i) {
    const auto hits = static_cast<double>(i), others = static_cast<double>(n - i);
    sum += std::exp(all - std::lgamma(hits + 1.0) - std::lgamma(others + 1.0) +
                    hits * std::log(chance) + others * std::log1p(-chance));
  }
  return std::min(sum, 1.0);
}

bool keeps_bound(std::int64_t over, std::int64_t queries, double share) {
  return binomial_at_most(over, queries, 1.0 - share) <= kDoubt;
}

bool misses_bound(std::int64_t over, std::int64_t queries, double share) {
  return 1.0 - binomial_at_most(over - 1, queries, 1.0 - share) <= kDoubt;
}

std::int64_t most_over_bound(std::int64_t queries, double share) {
  // P(X <= t) grows with t: the first t that is too many, less one.
  std::int64_t few = 0, many = queries;
  while (few < many) {
    const std::int64_t middle = few + (many - few + 1) / 2;
    if (keeps_bound(middle, queries, share))
      few = middle;
    else
      many = middle - 1;
  }
  return few;
}

std::int64_t fewest_queries(double share) {
  std::int64_t queries = 1;
  while (!keeps_bound(1, queries, share)) ++queries;
  return queries;
}

std::optional<double> latency_estimate(std::vector<double> latencies, double share) {
  const std::int64_t over = most_over_bound(static_cast<std::int64_t>(latencies.size()), share);
  if (over == 0) return {};
  std::ranges::nth_element(latencies, latencies.begin() + (over - 1), std::greater());
  return latencies[static_cast<std::size_t>(over - 1)];
}

}  // namespace bench
