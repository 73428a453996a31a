// Similarity of hosts, and criteria learned from a fleet.
#include <random>

#include "core/schema.h"
#include "results/verdicts/peers/criteria.h"
#include "results/verdicts/peers/fleet_profile.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

using Runs = std::vector<std::vector<double>>;

Runs hosts_at(double centre, std::size_t hosts, double host_noise, double run_noise,
              std::mt19937_64& random, int runs = 5) {
  std::normal_distribution<double> gauss;
  Runs all;
  for (std::size_t h = 0; h < hosts; ++h) {
    const double own = centre * (1.0 + host_noise * gauss(random));
    all.emplace_back();
    for (int r = 0; r < runs; ++r) all.back().push_back(own * (1.0 + run_noise * gauss(random)));
  }
  return all;
}

Runs together(Runs a, const Runs& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("the similarity of distributions matches the reference") {
  const std::vector<double> a = {100, 101, 102, 103}, b = {96, 97, 101, 102}, c = {80, 81, 82, 83};
  CHECK(similarity(a, a) == 1.0);
  CHECK(similarity(a, b) == Approx(.975369458));
  CHECK(similarity(b, a) == Approx(.975369458));
  CHECK(similarity(a, c) == Approx(.802955665));
}

TEST_CASE("one-sided similarity ignores better values") {
  const std::vector<double> slow = {95, 96}, fast = {100, 101};
  CHECK(similarity(fast, slow, CountedArea::worse, Better::higher) == 1.0);
  CHECK(similarity(slow, fast, CountedArea::worse, Better::higher) == similarity(slow, fast));
  CHECK(similarity(slow, fast, CountedArea::worse, Better::lower) == 1.0);
  CHECK(similarity(fast, slow, CountedArea::worse, Better::lower) == similarity(slow, fast));
}

TEST_CASE("similarity is zero for missing or negative values") {
  const std::vector<double> a = {1.0}, none, negative = {-1.0};
  CHECK(similarity(a, none) == 0.0);
  CHECK(similarity(negative, a) == 0.0);
}

TEST_CASE("a healthy fleet yields centre, noise and quantiles") {
  std::mt19937_64 random(1);
  const LearnResult result = learn(hosts_at(100.0, 200, 0.002, 0.002, random), 0.01);
  REQUIRE(result.criterion);
  const Criterion& found = *result.criterion;
  CHECK(found.centre == Approx(100.0).epsilon(0.002));
  CHECK(found.run_noise == Approx(0.002).epsilon(0.15));
  CHECK(found.host_noise == Approx(0.002).epsilon(0.25));
  CHECK(found.alpha == Approx(0.99));
  CHECK(found.hosts >= 195);
  CHECK(found.quantiles.size() == 9);
  CHECK(found.quantiles[4] == Approx(100.0).epsilon(0.002));
}

TEST_CASE("learning excludes exactly the bad hosts") {
  std::mt19937_64 random(2);
  const auto fleet =
      together(hosts_at(100.0, 36, 0.002, 0.002, random), hosts_at(94.0, 4, 0.002, 0.002, random));
  const LearnResult result = learn(fleet, 0.01);
  REQUIRE(result.criterion);
  CHECK(result.excluded == std::vector<std::size_t>{36, 37, 38, 39});
  CHECK(result.criterion->excluded == 4);
  CHECK(result.criterion->centre == Approx(100.0).epsilon(0.003));
  CHECK(result.criterion->quantiles.front() > 98.0);
}

TEST_CASE("learning rejects a fleet of two kinds of hosts, with their numbers") {
  std::mt19937_64 random(3);
  const auto fleet =
      together(hosts_at(100.0, 30, 0.002, 0.002, random), hosts_at(88.0, 20, 0.002, 0.002, random));
  const LearnResult result = learn(fleet, 0.01);
  CHECK_FALSE(result.criterion);
  CHECK_THAT(result.refusal, Contains("two kinds"));
  CHECK_THAT(result.refusal, Contains("20 at about 87.9"));
  CHECK_THAT(result.refusal, Contains("30 at about 100"));
}

TEST_CASE("learning rejects a fleet of mostly dissimilar hosts") {
  std::mt19937_64 random(4);
  Runs fleet = hosts_at(100.0, 12, 0.002, 0.002, random);
  for (int i = 0; i < 10; ++i) fleet.push_back({50.0 + 4.0 * i, 50.0 + 4.0 * i});
  const LearnResult result = learn(fleet, 0.01);
  CHECK_FALSE(result.criterion);
  CHECK_THAT(result.refusal, Contains("of 22 hosts agree") || Contains("two kinds"));
}

TEST_CASE("learning needs eight hosts") {
  std::mt19937_64 random(5);
  CHECK_THAT(learn(hosts_at(100.0, 7, 0.001, 0.001, random), 0.01).refusal, Contains("too few"));
  CHECK(learn(hosts_at(100.0, 8, 0.001, 0.001, random), 0.01).criterion);
  Runs holes = hosts_at(100.0, 7, 0.001, 0.001, random);
  holes.emplace_back();
  holes.push_back({0.0, -1.0, NAN});
  CHECK_THAT(learn(holes, 0.01).refusal, Contains("7 hosts are too few"));
}

TEST_CASE("hosts that scatter beyond the threshold are compared by their own repeatability") {
  std::mt19937_64 random(6);
  const LearnResult result = learn(hosts_at(100.0, 60, 0.002, 0.03, random), 0.01);
  REQUIRE(result.criterion);
  CHECK(result.criterion->alpha < 0.95);
  CHECK(result.criterion->hosts >= 55);
}

TEST_CASE("healthy fleets of one kind are rarely taken for two") {
  std::mt19937_64 random(7);
  for (const std::size_t hosts : {8, 16, 64}) {
    int refused = 0;
    for (int i = 0; i < 200; ++i)
      refused += learn(hosts_at(100.0, hosts, 0.004, 0.004, random), 0.01).criterion ? 0 : 1;
    INFO(hosts);
    CHECK(refused <= 6);
  }
}

TEST_CASE("a fleet profile survives a round trip") {
  std::mt19937_64 random(8);
  FleetProfile profile{1'795'000'000'000'000'000};
  const LearnResult result = learn(hosts_at(1e11, 16, 0.002, 0.002, random), 0.01);
  profile.entries.push_back({{"gemm.throughput", {{"m", 512}}, "host", "64 threads"},
                             Unit::flop_per_second,
                             Better::higher,
                             *result.criterion});
  profile.refused.push_back({{"copy.bandwidth", Json::object(), "cuda", ""}, "two kinds"});
  const Json json = Schema::load("schemas/fleet_profile.json").check(to_json(profile), "profile");
  const FleetProfile read = fleet_profile_from(json, "profile");
  CHECK(to_json(read) == to_json(profile));
}

TEST_CASE("a profile with unsorted or too few quantiles is rejected by name") {
  Json entry = {{"metric", "gemm.throughput"}, {"unit", "FLOP/s"},
                {"better", "higher"},          {"centre", 1.0},
                {"quantiles", {1, 2, 3}},      {"alpha", 0.99}};
  Json json = {{"time", "2026-11-20T18:30:05Z"}, {"criteria", {entry}}};
  CHECK_THROWS_WITH(fleet_profile_from(json, "p.json"), Contains("p.json: gemm.throughput has 3"));
  json["criteria"][0]["quantiles"] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
  CHECK_THROWS_WITH(fleet_profile_from(json, "p.json"), Contains("not in ascending order"));
}
