#include <cmath>

#include "results/acceptance/metric_class.h"
#include "results/acceptance/peer_cuts.h"
#include "results/acceptance/peers.h"
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
  CHECK(-scores.z.back() > peer_cut(fleet.size()));
}

TEST_CASE("where lower is better the slower host has the negative score") {
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

TEST_CASE("the cut depends on the number of hosts") {
  CHECK(peer_cut(4) == Approx(11.23));
  CHECK(peer_cut(6) == Approx(8.36));
  CHECK(peer_cut(8) == Approx(6.71));
  CHECK(peer_cut(16) == Approx(5.05));
  CHECK(peer_cut(1000) == Approx(4.31));
  CHECK(peer_cut(20) < peer_cut(16));
  CHECK(peer_cut(20) > peer_cut(24));
  CHECK(std::isinf(peer_cut(3)));
  CHECK(peer_cut(100000) == Approx(4.31));
}

TEST_CASE("level and cut are inverse, and more severe levels ask for more") {
  for (const std::size_t hosts : {4, 5, 9, 20, 32, 500})
    for (const double level : {0.01, 0.002, 0.0005, 1e-6}) {
      CHECK(peer_level(hosts, -peer_cut(hosts, level)) == Approx(level).epsilon(1e-6));
      CHECK(peer_cut(hosts, level / 2) > peer_cut(hosts, level));
    }
  CHECK(peer_level(8, 0.0) == 1.0);
  CHECK(peer_level(8, 3.0) == 1.0);
  CHECK(peer_level(3, -100.0) == 1.0);
}

TEST_CASE("a host's noise is drawn towards the fleet's, and more runs narrow its interval") {
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

TEST_CASE("one run has no interval of its own, and none at all where nobody repeated") {
  CHECK(std::isnan(moderated_noise(std::vector<std::vector<double>>{{1.0}, {1.1}}, 1.0).half[0]));
}

TEST_CASE("thresholds go by class, and metrics that say the same as another are not judged") {
  CHECK(practical_threshold("gemm.throughput") == 0.06);
  CHECK(practical_threshold("memory_bandwidth.bandwidth") == 0.02);
  CHECK(practical_threshold("copy.bandwidth") == 0.02);
  CHECK(practical_threshold("collective.busbw") == 0.03);
  CHECK(practical_threshold("something.new") == 0.01);
  CHECK_FALSE(practical_threshold("collective.algbw"));
  CHECK(practical_threshold("collective.busbw", {{"collective.busbw", 0.2}}) == 0.2);
}
