// False alarm rate: the share of unchanged series with any finding.
#include <map>

#include "tests/studies/judgement/simulation.h"

namespace bench {
namespace {

struct Alarms {
  std::size_t any = 0, steps = 0, newest = 0;
};

void count(const std::vector<Candidate>& found, Alarms& alarms) {
  bool step = false, newest = false;
  for (const Candidate& one : found)
    (one.finding.kind == ChangeKind::newest ? newest : step) = true;
  alarms.steps += step;
  alarms.newest += newest;
  alarms.any += step || newest;
}

Json row(Noise noise, std::size_t nights, const char* beside, std::size_t series,
         const Alarms& alarms) {
  const auto share = [&](std::size_t n) {
    return static_cast<double>(n) / static_cast<double>(series);
  };
  return {{"noise", name_of(noise)},
          {"n", nights},
          {"series", series},
          {"beside", beside},
          {"alarm_share", share(alarms.any)},
          {"step_share", share(alarms.steps)},
          {"newest_share", share(alarms.newest)}};
}

/// Findings of single hosts; fleet findings are counted separately.
Alarms of_hosts(const std::vector<Candidate>& found) {
  std::map<std::string, std::vector<Candidate>> by_host;
  for (const Candidate& one : found) by_host[one.finding.key.host].push_back(one);
  Alarms alarms;
  for (const auto& [host, candidates] : by_host) count(candidates, alarms);
  return alarms;
}

}  // namespace

Json false_alarms(std::size_t series, std::mt19937_64& random) {
  constexpr std::size_t kFleet = 40;
  Json rows = Json::array();
  for (const Noise noise : kNoises)
    for (const std::size_t nights : {30, 60, 200}) {
      Alarms alone, peers;
      for (std::size_t i = 0; i < series; ++i)
        count(judged({noisy(noise, nights, 0, random)}), alone);
      for (std::size_t i = 0; i < series; i += kFleet) {
        std::vector<Member> members;
        for (std::size_t h = 0; h < kFleet; ++h) members.push_back(noisy(noise, nights, h, random));
        const Alarms here = of_hosts(judged(members));
        peers.any += here.any;
        peers.steps += here.steps;
        peers.newest += here.newest;
      }
      rows.push_back(row(noise, nights, "nothing", series, alone));
      rows.push_back(
          row(noise, nights, "a fleet of 40", (series + kFleet - 1) / kFleet * kFleet, peers));
    }
  return rows;
}

}  // namespace bench
