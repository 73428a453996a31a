#include <cmath>
#include <random>

#include "results/verdicts/nightly/confirmation.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

NightFinding slower() {
  NightFinding finding;
  finding.kind = SuspicionKind::slower;
  finding.host = "n1";
  finding.metric = "gemm.throughput";
  finding.better = Better::higher;
  finding.value = 95;
  return finding;
}

const std::vector<double> kHistory = {100.1, 99.7, 100.4, 100.0, 99.9,
                                      100.3, 99.8, 100.2, 100.0, 99.6};

NightFinding judged(std::vector<Rerun> host, std::vector<Rerun> peer = {}) {
  NightFinding finding = slower();
  if (!peer.empty()) finding.peer = "n2";
  judge_slower(finding, {kHistory, std::move(host), kHistory, std::move(peer)}, {});
  return finding;
}

}  // namespace

TEST_CASE("a loss reproduced in three reruns is confirmed, else dropped") {
  const NightFinding again = judged({{95.1}, {94.8}, {95.3}}, {{100.1}, {99.9}, {100.0}});
  CHECK(again.state == SuspicionState::confirmed);
  CHECK(again.p < 1e-6);
  CHECK(again.again == std::vector<double>{95.1, 94.8, 95.3});
  CHECK_THAT(again.text, Contains("4.9 %") && Contains("peer n2 is unchanged"));
  const NightFinding gone = judged({{99.9}, {100.2}, {99.8}});
  CHECK(gone.state == SuspicionState::dropped);
  CHECK_THAT(gone.text, Contains("not reproduced"));
}

TEST_CASE("the text mentions a peer that lost as much") {
  const NightFinding both = judged({{95.1}, {94.8}, {95.3}}, {{95.1}, {94.9}, {95.0}});
  CHECK(both.state == SuspicionState::confirmed);
  CHECK_THAT(both.text, Contains("n2 also lost 5.0 %"));
}

TEST_CASE("disturbed or failed reruns are inconclusive and say why") {
  const NightFinding busy = judged({{95.1, false}, {94.8, false}, {95.3}});
  CHECK(busy.state == SuspicionState::unsettled);
  CHECK_THAT(busy.text, Contains("1 of 3"));
  CHECK_FALSE(busy.next_step.empty());
  CHECK(judged({{kNoValue}, {kNoValue}, {95.0}}).state == SuspicionState::unsettled);
}

TEST_CASE("a loss inside the noise of the history is neither confirmed nor dropped") {
  NightFinding finding = slower();
  judge_slower(finding, {{100, 80, 120, 95, 110}, {{92}, {96}, {94}}, {}, {}}, {});
  CHECK(finding.state == SuspicionState::unsettled);
  CHECK(finding.p > 0.01);
}

TEST_CASE("the test of one new value is the prediction test") {
  const std::vector<double> value = {98.9};
  CHECK(chance_of(kHistory, value, Better::higher, 0) == Approx(0.001416675614).epsilon(0.05));
  CHECK(std::isnan(chance_of(std::vector<double>{1}, value, Better::higher, 0)));
}

TEST_CASE("healthy reruns are confirmed no more often than the level") {
  std::mt19937 generator(3);
  std::normal_distribution<double> noise(0, 0.02);
  int confirmed = 0;
  constexpr int kTrials = 2000;
  for (int i = 0; i < kTrials; ++i) {
    Evidence evidence;
    for (int k = 0; k < 10; ++k) evidence.history.push_back(100 * std::exp(noise(generator)));
    for (int k = 0; k < 3; ++k) evidence.host.push_back({100 * std::exp(noise(generator))});
    NightFinding finding = slower();
    judge_slower(finding, evidence, {});
    confirmed += finding.state == SuspicionState::confirmed;
  }
  // Level 1 %: more than 34 of 2,000 has a chance below one in a thousand.
  CHECK(confirmed <= 34);
  CHECK(confirmed > 0);
}

TEST_CASE("a failure reproduced in any rerun is confirmed, else dropped") {
  NightFinding finding;
  finding.text = "the rank ended with SIGSEGV";
  NightFinding once = finding, never = finding, alone = finding;
  judge_failed(once, 3, 1, 0);
  CHECK(once.state == SuspicionState::confirmed);
  CHECK_THAT(once.text, Contains("SIGSEGV") && Contains("1 of 3"));
  judge_failed(never, 3, 0, 0);
  CHECK(never.state == SuspicionState::dropped);
  judge_failed(alone, 1, 0, 0);
  CHECK(alone.state == SuspicionState::unsettled);
}

TEST_CASE("correct reruns do not clear a wrong result") {
  NightFinding finding;
  finding.kind = SuspicionKind::wrong;
  judge_failed(finding, 3, 0, 0);
  CHECK(finding.state == SuspicionState::confirmed);
}

TEST_CASE("a finding survives a round trip, and damaged fields stay empty") {
  NightFinding finding = judged({{95.1}, {94.8}, {95.3}}, {{100.1}, {99.9}, {100.0}});
  finding.params = {{"dtype", "bf16"}};
  finding.unit = Unit::flop_per_second;
  CHECK(to_json(finding_from_json(to_json(finding))) == to_json(finding));
  CHECK(to_json(finding)["effect"].get<double>() == Approx(-0.05));
  const NightFinding damaged = finding_from_json({{"kind", 7}, {"again", "x"}, {"unit", "acre"}});
  CHECK(damaged.again.empty());
  CHECK(finding_from_json(Json::array()).host.empty());
}
