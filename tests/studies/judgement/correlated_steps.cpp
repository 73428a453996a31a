// A whole report of 8 hosts and 200 metrics, of which ten lost three sigmas on one host some nights
// ago: how many of the ten it finds among all others, and how many findings are false.
#include "tests/studies/judgement/simulation.h"

namespace bench {
namespace {

constexpr std::size_t kHosts = 8, kMetrics = 200, kLost = 10, kNights = 60, kNear = 2;
constexpr double kDrop = 3.0;

struct Found {
  std::size_t lost = 0, wrong = 0, wrong_steps = 0;
};

/// One report; the first kLost metrics lose on host 0, unless `nights` is 0.
void report_once(Noise noise, std::size_t nights, std::mt19937_64& random, Found& found) {
  Tally tally;
  RegressionReport report;
  const RegressionOptions options;
  const std::size_t change = kNights - nights;
  for (std::size_t metric = 0; metric < kMetrics; ++metric) {
    std::vector<Member> members;
    for (std::size_t h = 0; h < kHosts; ++h) {
      members.push_back(noisy(noise, kNights, h, random));
      members.back().key.metric += std::to_string(metric);
    }
    for (std::size_t t = change; t < kNights && metric < kLost; ++t)
      members[0].values[t].value -= kDrop * kSigma * 1e9;
    judge(members, options, tally);
  }
  std::vector<bool> seen(kLost, false);
  for (const Candidate& one : accepted(std::move(tally), options, report)) {
    const ChangeFinding& finding = one.finding;
    const auto at = static_cast<std::size_t>(finding.since.number) - 1;
    const auto metric = std::stoul(
        finding.key.metric.substr(finding.key.metric.find_last_not_of("0123456789") + 1));
    const bool lost_here =
        nights > 0 && metric < kLost && finding.key.host == "n0" && finding.effect < 0.0;
    if (!lost_here) {
      ++found.wrong;
      found.wrong_steps += finding.kind != ChangeKind::newest;
    }
    if (lost_here && at + kNear >= change &&
        (finding.kind == ChangeKind::newest || at <= change + kNear))
      seen[metric] = true;
  }
  for (const bool one : seen) found.lost += one;
}

}  // namespace

Json correlated_steps(std::size_t reports, std::mt19937_64& random) {
  Json rows = Json::array();
  for (const Noise noise : kNoises)
    for (const std::size_t nights : {0, 7}) {
      Found found;
      for (std::size_t i = 0; i < reports; ++i) report_once(noise, nights, random, found);
      const auto all = static_cast<double>(reports);
      rows.push_back(
          {{"noise", name_of(noise)},
           {"hosts", kHosts},
           {"metrics", kMetrics},
           {"lost", nights == 0 ? 0 : kLost},
           {"drop_sigmas", kDrop},
           {"nights", nights},
           {"reports", reports},
           {"found_share",
            nights == 0 ? Json() : Json(static_cast<double>(found.lost) / (all * kLost))},
           {"false_findings_a_report", static_cast<double>(found.wrong) / all},
           {"false_steps_a_report", static_cast<double>(found.wrong_steps) / all}});
    }
  return rows;
}

}  // namespace bench
