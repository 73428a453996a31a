// A night of 20,000 series after thirty others, with a true loss of six sigmas in twenty of them;
// and the share of a fleet's common noise that is removed.
#include "core/order_statistics.h"
#include "tests/studies/judgement/simulation.h"

namespace bench {

Json many_series(std::size_t nights, std::mt19937_64& random) {
  constexpr std::size_t kMetrics = 20, kHosts = 1000, kHistory = 30;
  std::size_t found = 0, wrong = 0, wrong_steps = 0;
  for (std::size_t night = 0; night < nights; ++night) {
    Tally tally;
    RegressionReport report;
    const RegressionOptions options;
    for (std::size_t metric = 0; metric < kMetrics; ++metric) {
      std::vector<Member> members;
      for (std::size_t h = 0; h < kHosts; ++h) {
        members.push_back(noisy(Noise::gauss, kHistory + 1, h, random));
        members.back().key.metric += std::to_string(metric);
      }
      members[0].values.back().value -= 6.0 * kSigma * 1e9;
      judge(members, options, tally);
    }
    for (const Candidate& one : accepted(std::move(tally), options, report)) {
      if (one.finding.kind != ChangeKind::newest)
        ++wrong_steps;
      else if (one.finding.key.host == "n0" && one.finding.effect < 0.0)
        ++found;
      else
        ++wrong;
    }
  }
  const auto all = static_cast<double>(nights);
  return {{"series", kMetrics * kHosts},
          {"history", kHistory},
          {"drops", kMetrics},
          {"drop_sigmas", 6.0},
          {"nights", nights},
          {"found_share", static_cast<double>(found) / (all * kMetrics)},
          {"false_newest_a_night", static_cast<double>(wrong) / all},
          {"series_with_false_steps", static_cast<double>(wrong_steps) / all}};
}

/// Hosts that share half their variation: standard deviation of a host before and after removal.
Json common_mode(std::size_t fleets, std::mt19937_64& random) {
  constexpr std::size_t kHosts = 32, kNights = 60;
  std::vector<double> before, after;
  std::normal_distribution<double> gauss;
  for (std::size_t i = 0; i < fleets; ++i) {
    std::vector<Member> members;
    for (std::size_t h = 0; h < kHosts; ++h)
      members.push_back(noisy(Noise::gauss, kNights, h, random));
    for (std::size_t t = 0; t < kNights; ++t) {
      const double shared = 1.0 + 2.0 * kSigma * gauss(random);
      for (Member& member : members) member.values[t].value *= shared;
    }
    std::vector<double> raw;
    for (const RunValue& value : members[0].values) raw.push_back(std::log(value.value));
    before.push_back(standard_deviation(raw));
    const SettledGroup group = settled(members, {});
    after.push_back(standard_deviation(group.histories[0].values));
  }
  return {{"hosts", kHosts}, {"sigma_before", mean(before)}, {"sigma_after", mean(after)}};
}

}  // namespace bench
