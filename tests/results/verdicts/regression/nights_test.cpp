#include "results/verdicts/regression/candidate.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000'000;

}

TEST_CASE("a run of all hosts is a night, and so are many runs of one host each") {
  const std::vector<RunValue> a{{1, 0, 0, 1.0}, {3, 24 * kHour, 0, 1.0}, {5, 48 * kHour, 0, 1.0}};
  const std::vector<RunValue> b{{1, 0, 0, 1.0}, {4, 25 * kHour, 0, 1.0}, {6, 49 * kHour, 0, 1.0}};
  const std::vector<const std::vector<RunValue>*> both{&a, &b};
  const Nights nights = nights_of(both);
  CHECK(nights.count == 3);
  CHECK(nights.of[0] == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(nights.of[1] == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("hourly runs of the same host are separate nights, and a long pause ends one") {
  const std::vector<RunValue> a{{1, 0, 0, 1.0}, {2, kHour, 0, 1.0}};
  const std::vector<RunValue> b{{3, 20 * kHour, 0, 1.0}};
  const std::vector<const std::vector<RunValue>*> both{&a, &b};
  const Nights nights = nights_of(both);
  CHECK(nights.count == 3);
  CHECK(nights.of[1] == std::vector<std::uint32_t>{2});
}

TEST_CASE("the common movement is the median, regardless of missing series") {
  std::vector<std::vector<double>> axis(9, {1.0, 1.0, 3.0, 3.0});
  for (std::size_t s = 0; s < axis.size(); ++s)
    for (double& value : axis[s]) value += 100.0 * static_cast<double>(s);
  axis[0][3] = 90.0;  // its own trouble
  Nights nights{4, std::vector<std::vector<std::uint32_t>>(9, {0, 1, 2, 3})};
  const auto movement = common_movement(nights, axis, 8);
  REQUIRE(movement.size() == 4);
  CHECK(movement[1] == movement[0]);
  CHECK(movement[2] - movement[1] == Approx(2.0));
  CHECK(movement[3] == movement[2]);
  CHECK(common_movement(nights, {axis.data(), 7}, 8).empty());
}
