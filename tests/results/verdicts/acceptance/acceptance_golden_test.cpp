#include "tests/support/judged_fleet.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// Criteria from eight healthy hosts of any kind: 100, differing by at most 1 %.
ProfileEntry learned(const std::string& metric, Json params = Json::object()) {
  ProfileEntry entry;
  entry.key = {metric, std::move(params), "host", ""};
  entry.unit = Unit::byte_per_second;
  entry.criterion.centre = 100.0;
  entry.criterion.alpha = 0.98;
  entry.criterion.host_noise = 0.002;
  entry.criterion.hosts = 32;
  return entry;
}

Fleet against_golden(std::size_t hosts,
                     ProfileEntry entry = learned("memory_bandwidth.bandwidth")) {
  Fleet fleet(hosts);
  fleet.settings.golden.emplace().entries.push_back(std::move(entry));
  return fleet;
}

}  // namespace

TEST_CASE("a uniformly bad batch fails against a golden profile") {
  Fleet fleet = against_golden(4);
  measure(fleet, "memory_bandwidth.bandwidth", {90, 90.1, 89.9, 90});
  const Acceptance acceptance = fleet.judge();
  CHECK(failed(acceptance).size() == 4);
  const Reason& reason = only_failure(acceptance.hosts.front());
  CHECK(reason.gate == "golden");
  CHECK(reason.expected == 100.0);
  CHECK_THAT(reason.text, Contains("10.0 % worse than healthy hosts of its kind"));
  fleet.settings.golden.reset();
  CHECK(fleet.judge().verdict == Verdict::pass);  // peers alone find nothing
}

TEST_CASE("too few hosts for a peer comparison pass by a golden profile, and the bad one fails") {
  Fleet fleet = against_golden(2);
  measure(fleet, "memory_bandwidth.bandwidth", {99.5, 80});
  const Acceptance acceptance = fleet.judge();
  CHECK(acceptance.hosts[0].verdict == Verdict::pass);
  CHECK(failed(acceptance) == Hosts{fleet.host(1)});
}

TEST_CASE("a loss within the spread of healthy hosts is no fault") {
  Fleet fleet = against_golden(4);
  measure(fleet, "memory_bandwidth.bandwidth", {98.5, 98.4, 98.6, 98.5});
  CHECK(fleet.judge().verdict == Verdict::pass);
}

TEST_CASE("a host scattered around the allowed loss is inconclusive and requests more runs") {
  Fleet fleet = against_golden(2);
  measure(fleet, "memory_bandwidth.bandwidth", {100, 100});
  for (const double run : {90.0, 98.0, 106.0}) fleet.job("copy.bandwidth", 1, run);
  fleet.settings.golden->entries.push_back(learned("copy.bandwidth"));
  const Acceptance acceptance = fleet.judge();
  CHECK(failed(acceptance).empty());
  const auto& reasons = acceptance.hosts[1].reasons;
  REQUIRE(reasons.size() == 1);
  CHECK(reasons[0].gate == "golden");
  CHECK(reasons[0].more_runs);
  CHECK_THAT(reasons[0].text, Contains("uncertainty +-"));
}

TEST_CASE("a golden profile for another kind, setting or metric adds only a note") {
  ProfileEntry other_kind = learned("memory_bandwidth.bandwidth");
  other_kind.key.kind = "another machine";
  for (ProfileEntry entry :
       {other_kind, learned("memory_bandwidth.bandwidth", {{"threads", 4}}),
        learned("memory_bandwidth.bandwidth", {{"ranks", 2}}), learned("gemm.throughput")}) {
    Fleet fleet = against_golden(2, std::move(entry));
    measure(fleet, "memory_bandwidth.bandwidth", {50, 50});
    const Acceptance acceptance = fleet.judge();
    CHECK(failed(acceptance).empty());
    CHECK(acceptance.verdict == Verdict::inconclusive);
    CHECK_THAT(acceptance.hosts[0].notes.at(0), Contains("no criteria for this kind of host"));
  }
}

TEST_CASE("metrics without golden criteria still need peers") {
  Fleet fleet = against_golden(2);
  measure(fleet, "memory_bandwidth.bandwidth", {100, 100});
  measure(fleet, "copy.bandwidth", {100, 100});
  const Acceptance acceptance = fleet.judge();
  CHECK(acceptance.verdict == Verdict::inconclusive);
  for (const Reason& reason : acceptance.hosts[0].reasons) CHECK(reason.metric == "copy.bandwidth");
}
