#include "results/stats/false_discovery.h"

#include "tests/support/catch.h"

using namespace bench;

namespace {

const std::vector<double> kLevels{.001, .008, .039, .041, .042, .06, .074, .205, .212, .216};

}

TEST_CASE("Benjamini-Hochberg adjusted levels match the reference") {
  const std::vector<double> expected{.01, .04, .084, .084, .084, .1, .105714286, .216, .216, .216};
  const auto adjusted = adjusted_bh(kLevels);
  REQUIRE(adjusted.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(adjusted[i] == Approx(expected[i]).epsilon(1e-8));
  const auto found = rejected(kLevels, 0.05);
  CHECK(std::count(found.begin(), found.end(), true) == 2);
}

TEST_CASE("adjusted levels keep the order given and never pass one") {
  const auto adjusted = adjusted_bh(std::vector<double>{0.9, 0.001, 0.8});
  CHECK(adjusted[1] == Approx(0.003));
  CHECK(adjusted[0] == Approx(0.9));
  CHECK(adjusted[2] == Approx(0.9));
  CHECK(adjusted_bh(std::vector<double>{1.0, 0.8})[0] == 1.0);
  CHECK(adjusted_bh({}).empty());
}
