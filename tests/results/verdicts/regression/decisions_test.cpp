#include "results/verdicts/regression/decisions.h"

#include "core/error.h"
#include "tests/results/fleet_histories.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

namespace {

/// The finding of a host that lost five percent at night 50 of 60, with runs called "run-N".
std::vector<ChangeFinding> one_finding() {
  MadeFleet fleet(12, 60, 0.003);
  std::vector<ChangeFinding> findings;
  for (Candidate& one : fleet.change(4, 50, 0.95).judged()) {
    one.finding.since.id = "run-" + std::to_string(one.finding.since.number);
    findings.push_back(one.finding);
  }
  REQUIRE(findings.size() == 1);
  return findings;
}

Decision decided(const ChangeFinding& finding, FindingState state, std::int64_t time_ns) {
  return {finding.id, finding.since.id, finding.since.time_ns, state, time_ns, "ann", "driver 570"};
}

}  // namespace

TEST_CASE("decisions on findings are kept in the journal and read back") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "journal.jsonl";
  append(path, {0, 1, "bob", JournalKind::note, "run-1", "12345678 is a number"});
  append(path, entry_of({"0badcafe", "run-51", 0, FindingState::acked, 17, "ann", "known: fan"}));
  append(path, {0, 18, "eve", JournalKind::fixed, "run-1", "no id at all"});
  const auto decisions = decisions_of(read_journal(path));
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].finding == "0badcafe");
  CHECK(decisions[0].run == "run-51");
  CHECK(decisions[0].state == FindingState::acked);
  CHECK(decisions[0].user == "ann");
  CHECK(decisions[0].text == "known: fan");
  CHECK_THROWS_AS(entry_of({"run-1", "", 0, FindingState::acked, 0, "", ""}), Error);
}

TEST_CASE("an acked finding does not fail until it is reopened") {
  auto findings = one_finding();
  const auto acked = decided(findings[0], FindingState::acked, 100 * kNight);
  decide(findings, {acked});
  CHECK(findings[0].state == FindingState::acked);
  CHECK_FALSE(findings[0].fails());
  decide(findings, {acked, decided(findings[0], FindingState::open, 101 * kNight)});
  CHECK(findings[0].fails());
}

TEST_CASE("a fixed finding reopens when a later value still shows it") {
  auto findings = one_finding();
  decide(findings, {decided(findings[0], FindingState::fixed, 100 * kNight)});
  CHECK(findings[0].state == FindingState::fixed);
  CHECK_FALSE(findings[0].fails());
  decide(findings, {decided(findings[0], FindingState::fixed, 55 * kNight)});
  CHECK(findings[0].state == FindingState::open);
  CHECK(findings[0].decision.state == FindingState::fixed);
  CHECK(findings[0].fails());
}

TEST_CASE(
    "a decision holds while new nights shift the change slightly, but not for another change") {
  auto findings = one_finding();
  Decision near = decided(findings[0], FindingState::noise, 100 * kNight);
  near.run = "run-53";
  near.since_ns = 52 * kNight;
  decide(findings, {near});
  CHECK(findings[0].state == FindingState::noise);

  findings = one_finding();
  near.since_ns = 20 * kNight;
  decide(findings, {near});
  CHECK(findings[0].state == FindingState::open);
  Decision other = decided(findings[0], FindingState::noise, 100 * kNight);
  other.finding = "00000000";
  decide(findings, {other});
  CHECK(findings[0].state == FindingState::open);
}

TEST_CASE("findings are selected by ID prefix; an unknown one is refused") {
  const auto findings = one_finding();
  CHECK(findings_named(findings, findings[0].id.substr(0, 4)).size() == 1);
  CHECK_THROWS_WITH(findings_named(findings, "zz"), Catch::Contains("no finding 'zz'"));
  CHECK_THROWS_AS(findings_named(findings, ""), Error);
  CHECK_THROWS_AS(findings_named({}, findings[0].id), Error);
}

TEST_CASE("finding IDs are stable from night to night") {
  MadeFleet today(12, 60, 0.003), tomorrow(12, 61, 0.003);
  const auto first = today.change(4, 50, 0.95).judged();
  const auto second = tomorrow.change(4, 50, 0.94).judged();
  REQUIRE(first.size() == 1);
  REQUIRE(second.size() == 1);
  CHECK(first[0].finding.id == second[0].finding.id);
}
