#include "tests/support/catch.h"
#include "tests/support/fleet.h"
#include "tests/support/topology_host.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// Five healthy hosts with topology facts and a profile.
Fleet profiled(const TopologyHost& last) {
  Fleet fleet(5);
  for (std::size_t h = 0; h < 5; ++h)
    for (const double run : {0.999, 1.0, 1.001})
      fleet.job("memory_bandwidth.bandwidth", h, 100e9 * run);
  for (std::size_t h = 0; h < 5; ++h) {
    fleet.job("topology.cores", h, 64);
    Record told = fleet.run.records.back();
    told.body = Facts{"topology", (h == 4 ? last : TopologyHost()).facts};
    fleet.run.records.push_back(told);
    fleet.settings.profiles[fleet.host(h)] = learn_profile("bought", TopologyHost().shape(), {});
  }
  return fleet;
}

std::vector<Reason> of_gate(const HostAcceptance& host) {
  std::vector<Reason> reasons;
  for (const Reason& reason : host.reasons)
    if (reason.gate == "topology") reasons.push_back(reason);
  return reasons;
}

}  // namespace

TEST_CASE("a host that deviates from its profile fails, and no other") {
  TopologyHost last;
  const Acceptance acceptance = profiled(last.remove_gpu(2)).judge();
  for (std::size_t h = 0; h < 4; ++h) CHECK(of_gate(acceptance.hosts[h]).empty());
  const auto reasons = of_gate(acceptance.hosts[4]);
  REQUIRE(reasons.size() == 1);
  CHECK(reasons[0].metric == "gpu/10de:20b0/count");
  CHECK_THAT(reasons[0].text, Contains("missing") && Contains("7, profile has 8"));
  CHECK(acceptance.hosts[4].verdict == Verdict::fail);
}

TEST_CASE("a profile rule for an unreadable or missing fact makes a host inconclusive") {
  TopologyHost last;
  last.facts["memory_modules"] = "unreadable: root only";
  const auto unreadable = of_gate(profiled(last).judge().hosts[4]);
  REQUIRE(unreadable.size() == 1);
  CHECK(unreadable[0].verdict == Verdict::inconclusive);

  Fleet silent = profiled(last);
  std::erase_if(silent.run.records,
                [](const Record& record) { return std::holds_alternative<Facts>(record.body); });
  const auto unasked = of_gate(silent.judge().hosts[0]);
  REQUIRE(unasked.size() == 1);
  CHECK(unasked[0].verdict == Verdict::inconclusive);
}

TEST_CASE("hosts without a profile are not judged by one") {
  TopologyHost last;
  Fleet fleet = profiled(last.remove_gpu(2));
  fleet.settings.profiles.clear();
  CHECK(of_gate(fleet.judge().hosts[4]).empty());
}
