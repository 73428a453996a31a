#include "results/stats/rank_scan.h"

#include <limits>
#include <random>

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("the rank scan matches the reference, also with ties") {
  const std::vector<double> x{10, 11, 10, 12, 20, 21, 19, 20};
  const RankScan scan = rank_scan(x);
  CHECK(scan.at == 4);
  CHECK(scan.z == Approx(2.33739483916311).epsilon(1e-12));
}

TEST_CASE("cuts of the scan follow the table and ln n between its lengths") {
  CHECK(rank_scan_cut(60) == Approx(3.8310));
  CHECK(rank_scan_cut(200) == Approx(4.0648));
  CHECK(rank_scan_cut(35) ==
        Approx(3.5979 + (3.6995 - 3.5979) * std::log(35.0 / 30.0) / std::log(40.0 / 30.0)));
  CHECK(rank_scan_cut(7) == std::numeric_limits<double>::infinity());
  CHECK(rank_scan_cut(9000) == Approx(4.2154));
}

TEST_CASE("independent series exceed the cut at the nominal rate") {
  std::mt19937_64 random(8);
  std::cauchy_distribution<double> wild;
  int passed = 0;
  std::vector<double> x(30);
  for (int i = 0; i < 20'000; ++i) {
    for (double& value : x) value = wild(random);
    passed += rank_scan(x).z > rank_scan_cut(30);
  }
  CHECK(passed >= 4);  // 20 expected
  CHECK(passed <= 40);
}

TEST_CASE("series too short or without a difference have no z") {
  CHECK(rank_scan(std::vector<double>{1, 2, 3, 4, 5}).at == 0);
  CHECK(rank_scan(std::vector<double>(12, 3.0)).z == 0.0);
}
