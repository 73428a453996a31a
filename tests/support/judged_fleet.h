// Inputs and verdict queries for acceptance tests on a fake fleet.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/verdicts/acceptance/acceptance.h"
#include "tests/support/catch.h"
#include "tests/support/fleet.h"

namespace bench {

/// Three runs of one metric on each host around these values.
inline void measure(Fleet& fleet, const std::string& metric, const std::vector<double>& values) {
  for (std::size_t h = 0; h < values.size(); ++h)
    for (const double run : {0.999, 1.0, 1.001}) fleet.job(metric, h, values[h] * run);
}

inline void measure_pairs(Fleet& fleet, std::size_t hosts,
                          const std::function<double(std::size_t, std::size_t)>& rate) {
  for (std::size_t a = 0; a < hosts; ++a)
    for (std::size_t b = a + 1; b < hosts; ++b)
      for (const double run : {0.99, 1.0, 1.01})
        fleet.job("collective.busbw", a, b, rate(a, b) * run);
}

inline const Reason& only_failure(const HostAcceptance& host) {
  REQUIRE_FALSE(host.reasons.empty());
  REQUIRE(host.reasons.front().verdict == Verdict::fail);
  return host.reasons.front();
}

inline std::vector<std::string> failed(const Acceptance& acceptance) {
  std::vector<std::string> hosts;
  for (const HostAcceptance& host : acceptance.hosts)
    if (host.verdict == Verdict::fail) hosts.push_back(host.host);
  return hosts;
}

}  // namespace bench
