// MLPerf Inference's rule for runs with few queries ("Early Stopping Criterion", appendix of
// inference_rules.adoc, as of round 6.1): what is said of a percentile of latency holds with a
// confidence of 99 %, whatever the distribution, if queries are independent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace bench {

/// P(X <= k) of a binomial X: how many of `n` happen that each have a chance of `chance`, 0 <
/// chance < 1. 0 for k < 0.
double binomial_at_most(std::int64_t k, std::int64_t n, double chance);

/// Whether at least `share` of all queries keep a bound that `over` of `queries` missed.
bool keeps_bound(std::int64_t over, std::int64_t queries, double share);
/// Whether fewer than `share` of all queries keep it.
bool misses_bound(std::int64_t over, std::int64_t queries, double share);

/// The most of so many queries that may miss a bound which `share` keep; 0: there are too few.
std::int64_t most_over_bound(std::int64_t queries, double share);
/// The fewest queries of which one may miss it: 64 for a share of 0.9, 662 for 0.99.
std::int64_t fewest_queries(double share);

/// MLPerf's estimate of a percentile: with t = most_over_bound(), the t-th highest latency. Nothing
/// for too few queries.
std::optional<double> latency_estimate(std::vector<double> latencies, double share);

}  // namespace bench
