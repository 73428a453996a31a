#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "results/stats/peers.h"
#include "results/verdicts/peers/compared.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("peers are scored by median and MAD: the worked example") {
  const std::vector<double> fleet = {100.2, 99.8,  100.1, 100.4, 99.9,
                                     100.0, 100.3, 99.7,  100.1, 95.0};
  const PeerScores scores = peer_scores(fleet, Better::higher, 1e-9);
  CHECK(scores.median == Approx(100.05));
  CHECK(scores.mad == Approx(0.2));
  CHECK(scores.sigma == Approx(0.29652));
  CHECK(scores.z.back() == Approx(-17.030891677).epsilon(1e-9));
  CHECK(loss(95.0, 100.05, Better::higher) == Approx(0.0505).epsilon(0.001));
  CHECK(scores.levels.back() < 1e-6);
  CHECK(scores.levels.front() == 1.0);
}

TEST_CASE("few healthy hosts reach a large z: the table of cuts, simulated") {
  // N and the z that the worst of N healthy hosts passes in one fleet of a hundred.
  const std::vector<std::pair<std::size_t, double>> known = {
      {4, 11.23}, {6, 8.36}, {8, 6.71}, {16, 5.05}, {32, 4.34}, {64, 4.16}, {256, 4.14}};
  std::mt19937_64 random(5);
  std::normal_distribution<double> gauss;
  for (const auto& [hosts, cut] : known) {
    const std::size_t fleets = hosts < 100 ? 20'000 : 4'000;
    std::size_t beyond = 0;
    for (std::size_t i = 0; i < fleets; ++i) {
      std::vector<double> values(hosts);
      for (double& value : values) value = gauss(random);
      beyond += std::ranges::min(peer_scores(values, Better::higher, 1e-9).z) < -cut;
    }
    CAPTURE(hosts);
    CHECK(static_cast<double>(beyond) / static_cast<double>(fleets) == Approx(0.01).margin(0.004));
  }
}

TEST_CASE("with lower better, the slower host has the negative score") {
  const std::vector<double> times = {1.0, 1.01, 0.99, 1.3};
  const PeerScores scores = peer_scores(times, Better::lower, 1e-9);
  CHECK(scores.z.back() < -3.0);
  CHECK(loss(1.3, 1.0, Better::lower) == Approx(0.3));
}

TEST_CASE("equal peers have the floor as their sigma") {
  const std::vector<double> equal = {5.0, 5.0, 5.0, 5.0, 4.0};
  const PeerScores scores = peer_scores(equal, Better::higher, 0.5);
  CHECK(scores.z.back() == Approx(-2.0));
  CHECK(scores.z.front() == 0.0);
}

TEST_CASE("the chance of the worst host depends on the number of hosts, at least four") {
  const auto level = [](std::vector<double> others) {
    others.push_back(95.0);
    return peer_scores(others, Better::higher, 1e-9).levels.back();
  };
  CHECK(level({100, 101}) == 1.0);
  CHECK(level({100, 101, 99}) > 0.01);
  CHECK(level({100, 101, 99, 100, 101, 99, 100}) < 0.01);
}

TEST_CASE("a host at a quarter of three steady peers stands out despite the small number") {
  const PeerScores few = peer_scores(std::vector<double>{100, 103, 98, 20}, Better::higher, 1e-9);
  CHECK_FALSE(stands_out(few, 3, 0.5, 1.0, 0.01));
  CHECK(stands_out(few, 3, 0.8, 1.0, 0.01));
  CHECK_FALSE(stands_out(few, 0, 0.8, 1.0, 0.01));
  const PeerScores three = peer_scores(std::vector<double>{100, 103, 2}, Better::higher, 1e-9);
  CHECK_FALSE(stands_out(three, 2, 0.98, 1.0, 0.01));
}

TEST_CASE("the correction for many metrics is per host: one bad host affects no other") {
  const std::vector<std::string> hosts = {"a", "b"};
  const std::vector<double> first = {0.001, 0.005}, second = {0.003, 0.9}, third = {0.002, 1.0};
  const auto chances = host_chances({{&hosts, &first}, {&hosts, &second}, {&hosts, &third}});
  CHECK(chances[0][0] == Approx(0.003));
  CHECK(chances[1][0] == Approx(0.003));
  CHECK(chances[2][0] == Approx(0.003));
  CHECK(chances[0][1] == Approx(0.015));
  CHECK(chances[2][1] == 1.0);
}

TEST_CASE("the noise of a host is moderated by the fleet, and more runs narrow its interval") {
  const std::vector<std::vector<double>> runs = {
      {99, 100, 101}, {99, 100, 101}, {99, 100, 101}, {90, 100, 110}};
  const Moderated noise = moderated_noise(runs, 100.0);
  CHECK(noise.of_host[0] == Approx(0.01));
  CHECK(noise.of_host[3] == Approx(0.1));
  CHECK(noise.half[3] > 3 * noise.half[0]);
  CHECK(noise.half[3] < 10 * noise.half[0]);
  const std::vector<std::vector<double>> more(4, {99, 100, 101, 99, 100, 101, 99, 100, 101});
  CHECK(moderated_noise(more, 100.0).half[0] < noise.half[0]);
}

TEST_CASE("a single run has no interval of its own, and none without any repeats") {
  CHECK(std::isnan(moderated_noise(std::vector<std::vector<double>>{{1.0}, {1.1}}, 1.0).half[0]));
}
