#include "results/stats/e_divisive.h"

#include <filesystem>

#include "core/json.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

const std::vector<double> kStep{10, 11, 10, 12, 20, 21, 19, 20};

}  // namespace

TEST_CASE("the best division has the largest energy statistic") {
  const Division best = best_division(kStep);
  CHECK(best.q == Approx(32.666666666666664));
  CHECK(best.at == 4);
  CHECK(best.end == 8);
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
