#include "results/verdicts/localisation/straggler.h"

#include <cmath>
#include <random>

#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"

using namespace bench;

namespace {

using Times = std::vector<std::vector<double>>;

/// Ranks that leave a collective together; each starts randomly late, one always by `late_s`.
Times collective(std::size_t ranks, std::size_t samples, std::size_t late_rank, double late_s,
                 double noise_s, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> delay(1.0 / noise_s);
  Times seconds(ranks);
  for (std::size_t i = 0; i < samples; ++i) {
    std::vector<double> begins;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      begins.push_back(delay(random) + (rank == late_rank ? late_s : 0.0));
    const double end = *std::ranges::max_element(begins) + 1e-3;
    for (std::size_t rank = 0; rank < ranks; ++rank) seconds[rank].push_back(end - begins[rank]);
  }
  return seconds;
}

}  // namespace

TEST_CASE("the rank that arrives late in each call is reported as the straggler") {
  for (const std::size_t ranks : {3, 4, 8, 64})
    for (unsigned seed = 0; seed < 20; ++seed) {
      const std::size_t late = seed % ranks;
      const auto found = find_straggler(collective(ranks, 50, late, 2e-3, 1e-4, seed));
      REQUIRE(found);
      CHECK(found->rank == late);
      CHECK(found->comes_last);
      CHECK(found->share < -0.3);
      CHECK(found->chance < 1e-3);
    }
}

TEST_CASE("the slowest rank is reported where others may leave early") {
  Times seconds(4, std::vector<double>(30, 1e-3));
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0.0, 2e-5);
  for (auto& rank : seconds)
    for (double& value : rank) value += noise(random);
  for (double& value : seconds[2]) value *= 1.5;
  const auto found = find_straggler(seconds);
  REQUIRE(found);
  CHECK(found->rank == 2);
  CHECK_FALSE(found->comes_last);
  CHECK(found->outermost == 30);
}

TEST_CASE("equal but noisy ranks rarely produce a straggler") {
  int named = 0;
  for (unsigned seed = 0; seed < 1000; ++seed)
    if (find_straggler(collective(2 + seed % 15, 40, 0, 0.0, 5e-4, seed))) ++named;
  CHECK(named <= 3);
}

TEST_CASE("barrier skew of microseconds or a few per cent is no straggler") {
  CHECK_FALSE(find_straggler(collective(8, 100, 3, 5e-5, 1e-6, 1)));
  CHECK_FALSE(find_straggler(Times{{1.00, 1.01, 1.0}, {1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}}));
}

TEST_CASE("two ranks, few samples or damaged columns give no straggler") {
  CHECK_FALSE(find_straggler(collective(2, 50, 1, 5e-3, 1e-5, 1)));
  CHECK_FALSE(find_straggler(collective(4, 9, 1, 5e-3, 1e-5, 1)));
  CHECK_FALSE(find_straggler({}));
  Times torn = collective(4, 50, 1, 5e-3, 1e-5, 1);
  torn[2].pop_back();
  CHECK_FALSE(find_straggler(torn));
  torn = collective(4, 50, 1, 5e-3, 1e-5, 1);
  torn[2][7] = NAN;
  CHECK_FALSE(find_straggler(torn));
}

TEST_CASE("the binomial tail matches exact counts") {
  CHECK(binomial_tail(0, 5, 0.3) == Approx(1.0));
  CHECK(binomial_tail(5, 5, 0.5) == Approx(1.0 / 32));
  CHECK(binomial_tail(2, 3, 0.25) == Approx(10.0 / 64));
}

TEST_CASE("the report of a run names the straggler with its host") {
  RunFixture run;
  run.job("a", "all", "collective", Json::object(), 4);
  run.plan["jobs"][0]["hosts"] = {"n1", "n2", "n3", "n4"};
  const Times seconds = collective(4, 40, 2, 2e-3, 1e-4, 9);
  Chunk chunk{"rank_times {\"op\":\"all_reduce\",\"size_bytes\":1024}"};
  chunk.columns["sample"] = std::vector<int>(40, 0);
  for (std::size_t rank = 0; rank < 4; ++rank)
    chunk.columns["rank" + std::to_string(rank)] = seconds[rank];
  const Chunk unnamed{"rank_times [", chunk.columns}, short_of_one{chunk.name, {{"rank0", {1, 2}}}};
  run.add("a", short_of_one).add("a", unnamed).add("a", chunk).outcome("a");
  const RunReport report = make_run_report(run.records());
  REQUIRE(report.stragglers.size() == 2);  // one of them without parameters
  CHECK(report.stragglers[0].params.empty());
  CHECK(report.stragglers[1].host == "n3");
  const std::string text = to_text(report, {false, false, 200});
  CHECK(text.find("rank 2 (n3) spends") != std::string::npos);
  CHECK(to_json(report)["stragglers"][0]["host"] == "n3");

  run.plan["jobs"][0]["hosts"] = {"n1", "n2"};
  run.plan["jobs"][0]["device"] = "cuda";
  CHECK_THAT(make_run_report(run.records()).stragglers[1].text,
             Catch::Contains("rank 2 (n2, cuda:0) spends"));
  run.plan["jobs"][0]["part"] = {{"device", "cuda:3,cuda:5"}};
  CHECK_THAT(make_run_report(run.records()).stragglers[1].text,
             Catch::Contains("rank 2 (n2, cuda:3) spends"));
}
