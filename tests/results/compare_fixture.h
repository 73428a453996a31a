// Sides of comparisons, built in sight of what is checked.
#pragma once

#include <string>
#include <vector>

#include "results/verdicts/compare/compare.h"
#include "tests/support/catch.h"

namespace bench {

inline const std::vector<double> kBefore = {101.2, 99.8, 100.5, 100.1, 99.6, 100.9};
inline const std::vector<double> kAfter = {97.9, 98.6, 97.2, 98.8, 99.7, 98.1};

inline MetricKey rate_key(const std::string& metric = "gemm.throughput") {
  return {.metric = metric,
          .params = R"({"m":512})",
          .device = "host",
          .over = "rank",
          .ranks = 1,
          .unit = Unit::flop_per_second,
          .better = Better::higher};
}

inline Point value_point(double value, double half_share = kNoValue, double clock = kNoValue) {
  return {.run = 1,
          .value = value,
          .low = value * (1.0 - half_share),
          .high = value * (1.0 + half_share),
          .clock_hz = clock};
}

inline Side side_of(const std::vector<double>& values, const MetricKey& key = rate_key(),
                    const std::string& host = "n1") {
  Side side{.name = "side"};
  for (const double value : values) side.metrics[key][{host, "host"}].push_back(value_point(value));
  side.runs = values.size();
  return side;
}

inline ComparedMetric only_metric(const Side& a, const Side& b,
                                  const CompareOptions& options = {}) {
  const Comparison found = compare(a, b, options);
  REQUIRE(found.metrics.size() == 1);
  return found.metrics[0];
}

}  // namespace bench
