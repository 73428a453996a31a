#include "results/verdicts/regression/peer_group.h"

#include "tests/results/fleet_histories.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("a host that lost 5 % ten nights ago is found, with time and size") {
  MadeFleet fleet(12, 60);
  const auto found = fleet.change(4, 50, 0.95).judged();
  REQUIRE(found.size() == 1);
  const ChangeFinding& finding = found[0].finding;
  CHECK(finding.scope == FindingScope::host);
  CHECK(finding.kind == ChangeKind::step);
  CHECK(finding.key.host == "n4");
  CHECK(finding.verdict == HistoryVerdict::regressed);
  CHECK(finding.effect == Approx(-0.05).margin(0.01));
  CHECK(finding.low < finding.effect);
  CHECK(finding.high > finding.effect);
  CHECK(finding.since_low.number <= 51);
  CHECK(finding.since_high.number >= 51);
  CHECK(finding.votes == 2);
  CHECK(finding.q < 1e-6);
  CHECK(finding.after == 10);
  CHECK(finding.fails());
  CHECK(fleet.report.tested == 13);  // the fleet's own series too
}

TEST_CASE("a fleet that lost 5 % is one finding, not one per host") {
  MadeFleet fleet(20, 60);
  const auto found = fleet.change(-1, 45, 0.95).judged();
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.scope == FindingScope::fleet);
  CHECK(found[0].finding.key.host.empty());
  CHECK(found[0].finding.since.number == 46);
  CHECK(found[0].finding.verdict == HistoryVerdict::regressed);
}

TEST_CASE("a host's loss is found under a movement of the fleet three times as large") {
  MadeFleet fleet(16, 60, 0.005);
  for (std::size_t t = 0; t < 60; ++t)
    fleet.change(-1, t, std::exp(0.02 * fleet.gauss(fleet.random)));  // a random walk for all
  const auto found = fleet.change(3, 40, 0.97).judged();
  std::size_t hosts = 0;
  for (const Candidate& one : found)
    if (one.finding.scope == FindingScope::host) {
      ++hosts;
      CHECK(one.finding.key.host == "n3");
      CHECK(one.finding.effect == Approx(-0.03).margin(0.005));
    }
  CHECK(hosts == 1);
}

TEST_CASE("a newest value far below its history is found at once as newest") {
  MadeFleet fleet(12, 40);
  const auto found = fleet.change(7, 39, 0.92).judged();
  REQUIRE(found.size() == 1);
  const ChangeFinding& finding = found[0].finding;
  CHECK(finding.kind == ChangeKind::newest);
  CHECK(finding.key.host == "n7");
  CHECK(finding.since.number == 40);
  CHECK(finding.q <= 0.05);
  CHECK(finding.verdict == HistoryVerdict::regressed);
}

TEST_CASE("a newest value far below a history that was a little low before is seldom a step") {
  int newest = 0, steps = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    MadeFleet fleet(12, 40, 0.01, seed);
    for (const Candidate& one : fleet.change(7, 37, 0.985).change(7, 39, 0.95).judged()) {
      steps += one.finding.kind == ChangeKind::step;
      newest += one.finding.kind == ChangeKind::newest && one.finding.key.host == "n7";
    }
  }
  CHECK(newest >= 16);
  CHECK(steps <= 2);
}

TEST_CASE("improvements do not fail; a metric without direction is changed") {
  MadeFleet faster(10, 40);
  auto found = faster.change(1, 30, 1.06).judged();
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.verdict == HistoryVerdict::improved);
  CHECK_FALSE(found[0].finding.fails());

  MadeFleet latency(10, 40);
  for (Member& member : latency.members) member.key.better = Better::lower;
  found = latency.change(1, 30, 1.06).judged();
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.verdict == HistoryVerdict::regressed);

  MadeFleet either(10, 40);
  for (Member& member : either.members) member.key.better = Better::none;
  found = either.change(1, 30, 1.06).judged();
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.verdict == HistoryVerdict::changed);
  CHECK(found[0].finding.fails());
}

TEST_CASE("a loss below the practical threshold is not reported") {
  MadeFleet fleet(12, 100, 0.0005);
  CHECK(fleet.change(4, 50, 0.995).judged().empty());
  RegressionOptions strict;
  strict.threshold = 0.002;
  CHECK(fleet.judged(strict).size() == 1);
}

TEST_CASE("a recovered change is reported for two weeks with its end, and does not fail") {
  MadeFleet fleet(10, 60);
  fleet.change(2, 45, 0.93).change(2, 52, 1.0 / 0.93);
  const auto found = fleet.judged();
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.since.number == 46);
  CHECK(found[0].finding.until.number == 53);
  CHECK_FALSE(found[0].finding.fails());

  MadeFleet longer(10, 90);
  CHECK(longer.change(2, 45, 0.93).change(2, 52, 1.0 / 0.93).judged().empty());
}

TEST_CASE("a slowly declining host is one drift finding, not many steps") {
  MadeFleet fleet(10, 100, 0.004);
  for (std::size_t t = 1; t < 100; ++t) fleet.change(5, t, std::exp(-0.0008));
  const auto found = fleet.judged();
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.kind == ChangeKind::drift);
  CHECK(found[0].finding.effect == Approx(-0.076).margin(0.01));
  CHECK(found[0].finding.verdict == HistoryVerdict::regressed);
}

TEST_CASE("counts that must be equal are compared, not tested") {
  MadeFleet fleet(1, 12);
  Member& member = fleet.members[0];
  member.key.metric = "topology.cores";
  member.key.better = Better::none;
  for (RunValue& value : member.values) value.value = 64.0;
  CHECK(fleet.judged().empty());
  for (std::size_t t = 9; t < 12; ++t) member.values[t].value = 63.0;
  const auto found = fleet.judged();
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.kind == ChangeKind::exact);
  CHECK(found[0].finding.since.number == 10);
  CHECK(found[0].finding.fails());
}

TEST_CASE("series without a value tonight are missing; short ones are not judged") {
  MadeFleet fleet(10, 20);
  fleet.members[0].values.pop_back();
  fleet.members[1].values.resize(5);  // retired long ago
  fleet.members[2].values.erase(fleet.members[2].values.begin(), fleet.members[2].values.end() - 4);
  fleet.judged();
  CHECK(fleet.report.missing == 1);
  CHECK(fleet.report.too_short == 2);
}

TEST_CASE("a change carries the configurations around it, not those of other nights") {
  MadeFleet fleet(10, 60, 0.003);
  fleet.change(4, 40, 0.95);
  for (std::size_t t = 10; t < 60; ++t) fleet.members[4].values[t].configuration = t < 40 ? 2 : 3;
  const auto found = fleet.judged();
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].configurations.size() == 1);
  CHECK(found[0].configurations[0] == std::pair<std::int64_t, std::int64_t>(2, 3));
}

TEST_CASE("a fleet change carries the configurations of its members") {
  MadeFleet fleet(10, 60, 0.003);
  fleet.change(-1, 40, 0.95);
  for (Member& member : fleet.members)
    for (std::size_t t = 40; t < 60; ++t) member.values[t].configuration = 9;
  const auto found = fleet.judged();
  REQUIRE(found.size() == 1);
  CHECK(found[0].configurations.size() == 10);
  CHECK(found[0].members == 10);
}

TEST_CASE("otava votes when enabled") {
  MadeFleet fleet(10, 60);
  RegressionOptions options;
  options.otava = true;
  const auto found = fleet.change(4, 40, 0.9).judged(options);
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.voters == 3);
  CHECK(found[0].finding.votes == 3);
}

TEST_CASE("healthy fleets have no findings") {
  std::size_t accused = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    MadeFleet fleet(20, 60, 0.01, seed);
    accused += fleet.judged().size();
  }
  CHECK(accused <= 3);  // of 400 series and 20 fleets
}

TEST_CASE("a metric that reaches zero on one host is judged as it is on all of them") {
  MadeFleet fleet(10, 40, 0.003);
  for (Member& member : fleet.members) member.key.metric = "training.quality";
  fleet.members[3].values[5].value = 0.0;
  const auto found = fleet.change(6, 30, 0.9).judged();
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.key.host == "n6");
  CHECK(found[0].finding.effect == Approx(-0.1).margin(0.01));
  CHECK(found[0].finding.expected == Approx(1e12).epsilon(0.01));
}
