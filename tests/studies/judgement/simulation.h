// Shared by the simulations: several kinds of noise, and series and fleets made of it.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/verdicts/regression/peer_group.h"

namespace bench {

enum class Noise { gauss, t3, lognormal, ar };
inline constexpr std::array kNoises = {Noise::gauss, Noise::t3, Noise::lognormal, Noise::ar};

inline const char* name_of(Noise noise) {
  constexpr std::array kNames = {"gauss", "t3", "lognormal", "ar0.4"};
  return kNames[static_cast<std::size_t>(noise)];
}

/// Values with mean 0 and standard deviation 1: normal; Student's t of three degrees; exp(0.8 z);
/// a normal autoregression with correlation 0.4.
class NoiseSource {
 public:
  NoiseSource(Noise noise, std::mt19937_64& random) : noise_(noise), random_(random) {
    last_ = gauss_(random_);
  }
  double operator()() {
    constexpr double kSkew = 0.8, kCorrelation = 0.4;
    switch (noise_) {
      case Noise::t3:
        return t3_(random_) / std::sqrt(3.0);
      case Noise::lognormal: {
        const double square = kSkew * kSkew;
        const double mean = std::exp(0.5 * square);
        return (std::exp(kSkew * gauss_(random_)) - mean) /
               (mean * std::sqrt(std::exp(square) - 1.0));
      }
      case Noise::ar:
        return last_ = kCorrelation * last_ +
                       std::sqrt(1.0 - kCorrelation * kCorrelation) * gauss_(random_);
      case Noise::gauss:
        break;
    }
    return gauss_(random_);
  }

 private:
  Noise noise_;
  std::mt19937_64& random_;
  std::normal_distribution<double> gauss_;
  std::student_t_distribution<double> t3_{3.0};
  double last_ = 0.0;
};

inline constexpr double kSigma = 0.01;  // of all series: one percent of the value

/// `nights` values about 1e9.
inline Member noisy(Noise noise, std::size_t nights, std::size_t host, std::mt19937_64& random) {
  constexpr std::int64_t kDay = std::int64_t{86'400} * 1'000'000'000;
  Member member;
  member.key.metric = "memory_bandwidth.bandwidth";
  member.key.host = "n" + std::to_string(host);
  member.key.device = "host";
  member.key.unit = Unit::byte_per_second;
  member.key.better = Better::higher;
  NoiseSource source(noise, random);
  for (std::size_t t = 0; t < nights; ++t)
    member.values.push_back({static_cast<std::int64_t>(t) + 1, static_cast<std::int64_t>(t) * kDay,
                             1, 1e9 * (1.0 + kSigma * source())});
  return member;
}

inline std::vector<Candidate> judged(const std::vector<Member>& members) {
  Tally tally;
  RegressionReport report;
  const RegressionOptions options;
  judge(members, options, tally);
  return accepted(std::move(tally), options, report);
}

Json false_alarms(std::size_t series, std::mt19937_64& random);
Json detection(std::size_t series, std::mt19937_64& random);
Json correlated_steps(std::size_t reports, std::mt19937_64& random);
Json many_series(std::size_t nights, std::mt19937_64& random);
Json common_mode(std::size_t fleets, std::mt19937_64& random);
Json equal_halves(std::size_t comparisons, std::mt19937_64& random);
Json fleets(std::size_t count, std::mt19937_64& random);

}  // namespace bench
