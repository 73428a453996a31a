// Made-up histories of a fleet: nights of hosts, with noise that is drawn and changes that are put
// in.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "results/verdicts/regression/peer_group.h"

namespace bench {

inline constexpr std::int64_t kNight = std::int64_t{86'400} * 1'000'000'000;

struct MadeFleet {
  explicit MadeFleet(std::size_t hosts, std::size_t nights, double noise = 0.01,
                     std::uint64_t seed = 1)
      : random(seed) {
    for (std::size_t h = 0; h < hosts; ++h) {
      members.emplace_back();
      SeriesKey& key = members.back().key;
      key.metric = "gemm.throughput";
      key.params = {{"dtype", "f64"}};
      key.host = "n" + std::to_string(h);
      key.device = "host";
      key.unit = Unit::flop_per_second;
      key.better = Better::higher;
      for (std::size_t t = 0; t < nights; ++t)
        members.back().values.push_back({static_cast<std::int64_t>(t) + 1,
                                         static_cast<std::int64_t>(t) * kNight, 1,
                                         1e12 * std::exp(noise * gauss(random))});
    }
  }

  /// Multiplies the values of a host, or of all (-1), from this night on.
  MadeFleet& change(int host, std::size_t night, double factor) {
    for (std::size_t h = 0; h < members.size(); ++h)
      for (std::size_t t = night;
           (host < 0 || h == static_cast<std::size_t>(host)) && t < members[h].values.size(); ++t)
        members[h].values[t].value *= factor;
    return *this;
  }

  /// What is found, in no order.
  std::vector<Candidate> judged(const RegressionOptions& options = {}) {
    Tally tally;
    judge(members, options, tally);
    report = {};
    return accepted(std::move(tally), options, report);
  }

  std::mt19937_64 random;
  std::normal_distribution<double> gauss;
  std::vector<Member> members;
  RegressionReport report;
};

}  // namespace bench
