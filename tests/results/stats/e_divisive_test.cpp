#include "results/stats/e_divisive.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/json.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

const std::vector<double> kStep{10, 11, 10, 12, 20, 21, 19, 20};

double largest_v(const std::vector<double>& x) {
  double most = 0.0;
  for (std::size_t at = 1; at < x.size(); ++at)
    most = std::max(most, division_q(x, at, x.size(), PairMean::v));
  return most;
}

}  // namespace

TEST_CASE("the energy statistic is that of research, with and without a value's own distance") {
  const std::vector<double> u{5.833333, 10.5, 21.875, 32.666667, 17.5, 8.4, 4.666667};
  const std::vector<double> v{6.535714,  12.583333, 23.716667, 33.75,
                              19.983333, 10.583333, 5.392857};
  for (std::size_t at = 1; at < kStep.size(); ++at) {
    CHECK(division_q(kStep, at, 8) == Approx(u[at - 1]).epsilon(1e-6));
    CHECK(division_q(kStep, at, 8, PairMean::v) == Approx(v[at - 1]).epsilon(1e-6));
  }
  const Division best = best_division(kStep);
  CHECK(best.q == Approx(32.666666666666664));
  CHECK(best.at == 4);
  CHECK(best.end == 8);
}

TEST_CASE("1152 of all orders of eight values split as well: no series of eight can do better") {
  std::vector<double> x = kStep;
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5, 6, 7};
  const double most = largest_v(kStep);
  int as_large = 0, all = 0;
  do {
    for (std::size_t i = 0; i < order.size(); ++i) x[i] = kStep[order[i]];
    as_large += largest_v(x) >= most - 1e-9;
    ++all;
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(all == 40320);
  CHECK(as_large == 1152);
}

TEST_CASE("otava finds the changes of a step, and none in short series") {
  CHECK(otava_changes(kStep) == std::vector<std::size_t>{4});
  CHECK(otava_changes(std::vector<double>{1}).empty());
  CHECK(otava_changes(std::vector<double>{1, 2}).empty());
  CHECK(otava_changes(std::vector<double>(60, 3.0)).empty());
}

TEST_CASE("otava's own indices of the tigerbeetle series are reproduced") {
  const std::filesystem::path file = "../shared/data/statistics/otava/tigerbeetle.json";
  if (!std::filesystem::exists(file)) {
    WARN("skipped: ../shared/data is not there");
    return;
  }
  const Json data = read_json(file);
  const std::vector<double> series = data["series"];
  REQUIRE(data["expected"].size() >= 10);
  for (const Json& expected : data["expected"]) {
    INFO(expected["test"]);
    const OtavaSettings settings{expected["window_len"], expected["max_pvalue"],
                                 expected["min_magnitude"]};
    CHECK(otava_changes(series, settings) == expected["expected"].get<std::vector<std::size_t>>());
  }
}
