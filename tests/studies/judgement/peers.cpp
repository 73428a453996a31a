// Error rate of comparisons of equal sides and detection rate of bad hosts in a fleet, with the
// functions that compare and accept use.
#include "results/stats/peers.h"

#include "results/stats/hodges_lehmann.h"
#include "tests/studies/judgement/simulation.h"

namespace bench {

Json equal_halves(std::size_t comparisons, std::mt19937_64& random) {
  constexpr double kThreshold = 0.02;
  Json rows = Json::array();
  for (const Noise noise : kNoises)
    for (const std::size_t runs : {5, 6, 10, 20}) {
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < comparisons; ++i) {
        std::vector<double> a, b;
        NoiseSource source(noise, random);
        for (std::size_t r = 0; r < runs; ++r) a.push_back(std::log(1.0 + kSigma * source()));
        for (std::size_t r = 0; r < runs; ++r) b.push_back(std::log(1.0 + kSigma * source()));
        const Shift shift = hodges_lehmann(a, b);
        wrong += shift.low > std::log1p(kThreshold) || shift.high < std::log1p(-kThreshold);
      }
      rows.push_back(
          {{"noise", name_of(noise)},
           {"runs_a_side", runs},
           {"threshold", kThreshold},
           {"comparisons", comparisons},
           {"wrong_share", static_cast<double>(wrong) / static_cast<double>(comparisons)}});
    }
  return rows;
}

/// One value per host; a host is accused for its level and a loss beyond the threshold.
Json fleets(std::size_t count, std::mt19937_64& random) {
  constexpr double kLost = 0.06, kThreshold = 0.01, kLevel = 0.01;
  std::normal_distribution<double> gauss;
  Json rows = Json::array();
  for (const double noise : {0.005, 0.01})
    for (const std::size_t hosts : {8, 16, 32, 100, 1000})
      for (const double share : {0.0, 0.05, 0.1}) {
        const auto bad = static_cast<std::size_t>(std::ceil(share * static_cast<double>(hosts)));
        std::size_t found = 0, accused_fleets = 0;
        for (std::size_t i = 0; i < count; ++i) {
          std::vector<double> values;
          for (std::size_t h = 0; h < hosts; ++h)
            values.push_back((h < bad ? 1.0 - kLost : 1.0) * (1.0 + noise * gauss(random)));
          const PeerScores scores = peer_scores(values, Better::higher, 1e-4);
          bool accused = false;
          for (std::size_t h = 0; h < hosts; ++h) {
            const bool fails = scores.levels[h] <= kLevel &&
                               loss(values[h], scores.median, Better::higher) > kThreshold;
            (h < bad ? found : accused_fleets) += fails && (h < bad || !accused);
            accused = accused || (fails && h >= bad);
          }
        }
        const auto all = static_cast<double>(count);
        rows.push_back(
            {{"hosts", hosts},
             {"noise", noise},
             {"bad", bad},
             {"lost", kLost},
             {"fleets", count},
             {"found_share",
              bad > 0 ? Json(static_cast<double>(found) / (all * static_cast<double>(bad)))
                      : Json()},
             {"falsely_accused_fleets_share", static_cast<double>(accused_fleets) / all}});
      }
  return rows;
}

}  // namespace bench
