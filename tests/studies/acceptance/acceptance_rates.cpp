// False alarm and detection rates of benchctl accept, on simulated fleets with the production code.
// Prints one JSON object, which scripts/evidence acceptance_rates stores. Arguments: fleets per
// line, seed.
#include <cstdio>
#include <cstdlib>

#include "results/stats/peers.h"
#include "tests/support/fleet.h"

using namespace bench;

namespace {

constexpr std::size_t kMetrics = 6;

struct Case {
  std::size_t hosts;
  double host_noise, run_noise;  // relative
  double slow_runs = 0.0;        // share of runs that other work slows by a fifth
};

Json healthy(const Case& one, int fleets, std::mt19937_64& random) {
  int accused = 0, passed = 0;
  for (int i = 0; i < fleets; ++i) {
    const auto fleet = healthy_fleet(one.hosts, kMetrics, one.host_noise, one.run_noise, random);
    const Verdict verdict = fleet.judge().verdict;
    accused += verdict == Verdict::fail;
    passed += verdict == Verdict::pass;
  }
  return {{"hosts", one.hosts},
          {"host_noise", one.host_noise},
          {"run_noise", one.run_noise},
          {"fleets", fleets},
          {"accused", accused},
          {"accused_share", 1.0 * accused / fleets},
          {"passed_share", 1.0 * passed / fleets}};
}

/// The last host loses `lost` in every metric.
Json sick(const Case& one, double lost, int fleets, std::mt19937_64& random) {
  int found = 0, passed = 0, others = 0;
  std::normal_distribution<double> gauss;
  for (int i = 0; i < fleets; ++i) {
    Fleet fleet(one.hosts);
    for (std::size_t m = 0; m < kMetrics; ++m)
      for (std::size_t h = 0; h < one.hosts; ++h) {
        const double own =
            (1.0 + one.host_noise * gauss(random)) * (h + 1 == one.hosts ? 1.0 - lost : 1.0);
        for (int r = 0; r < 3; ++r)
          fleet.job("memory_bandwidth" + std::to_string(m) + ".bandwidth", h,
                    1e9 * own * (1.0 + one.run_noise * gauss(random)));
      }
    const Acceptance acceptance = fleet.judge();
    found += acceptance.hosts.back().verdict == Verdict::fail;
    passed += acceptance.hosts.back().verdict == Verdict::pass;
    for (std::size_t h = 0; h + 1 < one.hosts; ++h)
      others += acceptance.hosts[h].verdict == Verdict::fail;
  }
  return {{"hosts", one.hosts},
          {"lost", lost},
          {"host_noise", one.host_noise},
          {"run_noise", one.run_noise},
          {"found_share", 1.0 * found / fleets},
          {"passed_share", 1.0 * passed / fleets},
          {"others_accused", others}};
}

/// The suite promises to find `promise`; the last host loses a little more in one metric, others
/// nothing. Passes of that metric on that host are false; that the host passes while the metric is
/// named as not resolved is counted apart.
Json promised(const Case& one, double promise, int runs, int fleets, std::mt19937_64& random) {
  int resolved = 0, passed = 0, unresolved = 0, others_passed = 0, others_accused = 0;
  std::normal_distribution<double> gauss;
  std::uniform_real_distribution<double> share;
  for (int i = 0; i < fleets; ++i) {
    Fleet fleet = healthy_fleet(one.hosts, 1, one.host_noise, 0.01, random, runs);
    fleet.promise(promise);
    for (std::size_t h = 0; h < one.hosts; ++h) {
      const double own =
          h + 1 == one.hosts ? 0.999 - promise : 1.0 + one.host_noise * gauss(random);
      for (int r = 0; r < runs; ++r)
        fleet.job("gemm.throughput", h,
                  1e12 * own * (1.0 + one.run_noise * gauss(random)) *
                      (share(random) < one.slow_runs ? 0.8 : 1.0));
    }
    const Acceptance acceptance = fleet.judge();
    resolved += std::ranges::none_of(acceptance.unresolved, [](const Unresolved& left) {
      return left.metric == "gemm.throughput";
    });
    for (const HostMetric& row : acceptance.hosts.back().metrics) {
      if (row.metric != "gemm.throughput") continue;
      passed += row.verdict == Verdict::pass;
      unresolved += row.unresolved && acceptance.hosts.back().verdict == Verdict::pass;
    }
    for (std::size_t h = 0; h + 1 < one.hosts; ++h) {
      others_passed += acceptance.hosts[h].verdict == Verdict::pass;
      others_accused += acceptance.hosts[h].verdict == Verdict::fail;
    }
  }
  const double others = static_cast<double>(fleets) * static_cast<double>(one.hosts - 1);
  return {{"hosts", one.hosts},
          {"promise", promise},
          {"runs", runs},
          {"slow_runs", one.slow_runs},
          {"host_noise", one.host_noise},
          {"run_noise", one.run_noise},
          {"fleets", fleets},
          {"resolved_share", 1.0 * resolved / fleets},
          {"falsely_passed_share", 1.0 * passed / fleets},
          {"passed_unresolved_share", 1.0 * unresolved / fleets},
          {"others_passed_share", others_passed / others},
          {"others_accused", others_accused}};
}

/// How often any host of a healthy fleet is at or below a level in one metric: at most that level.
Json level(std::size_t hosts, double at, int fleets, std::mt19937_64& random) {
  int accused = 0;
  std::vector<double> values(hosts);
  std::normal_distribution<double> gauss;
  for (int i = 0; i < fleets; ++i) {
    for (double& value : values) value = gauss(random);
    accused += std::ranges::min(peer_scores(values, Better::higher, 1e-9).levels) <= at;
  }
  return {{"hosts", hosts},
          {"level", at},
          {"fleets", fleets},
          {"accused_share", 1.0 * accused / fleets}};
}

}  // namespace

int main(int argc, char** argv) {
  const int fleets = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  Json result = {{"metrics", kMetrics}, {"threshold", 0.01}};
  for (const std::size_t hosts : {4, 8, 32}) {
    for (const double noise : {0.002, 0.01, 0.05}) {
      result["healthy"].push_back(healthy({hosts, noise, noise}, fleets, random));
      std::fprintf(stderr, "%s\n", dump(result["healthy"].back()).c_str());
    }
    for (const double lost : {0.05, 0.1, 0.3}) {
      result["sick"].push_back(sick({hosts, 0.002, 0.002}, lost, fleets / 4, random));
      std::fprintf(stderr, "%s\n", dump(result["sick"].back()).c_str());
    }
  }
  for (const std::size_t hosts : {4, 6, 32})
    for (const double noise : {0.01, 0.03, 0.06})
      for (const double slow_runs : {0.0, 0.35})
        for (const int runs : {3, 9}) {
          result["promised"].push_back(
              promised({hosts, 0.25 * noise, noise, slow_runs}, 0.1, runs, fleets, random));
          std::fprintf(stderr, "%s\n", dump(result["promised"].back()).c_str());
        }
  for (const std::size_t hosts : {4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32, 64, 100, 256, 1000})
    for (const double at : {0.01, 0.001})
      result["levels"].push_back(
          level(hosts, at, hosts > 100 ? 10 * fleets : 100 * fleets, random));
  std::printf("%s\n", dump(result).c_str());
}
