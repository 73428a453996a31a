#include "devices/cuda/candidates.h"

#include <algorithm>
#include <vector>

#include "core/order_statistics.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("the fastest candidate is taken, the first of equals") {
  const std::vector<double> seconds = {3.0, 2.0, 5.0, 2.0};
  std::vector<std::size_t> asked;
  const auto seconds_of = [&](std::size_t which) {
    asked.push_back(which);
    return seconds.at(which);
  };
  CHECK(fastest(seconds.size(), 2, seconds_of) == 1);
  CHECK(asked == std::vector<std::size_t>{0, 1, 2, 3, 3, 2, 1, 0});
  CHECK(fastest(1, 2, seconds_of) == 0);
  CHECK(fastest(0, 2, seconds_of) == 0);
}

TEST_CASE("what is much slower than the best is left out after two rounds") {
  const std::vector<double> seconds = {1.09, 2.0, 1.0, 1.2};
  std::vector<int> asked(seconds.size(), 0);
  const auto seconds_of = [&](std::size_t which) {
    ++asked.at(which);
    return seconds.at(which);
  };
  CHECK(fastest(seconds.size(), 8, seconds_of) == 2);
  CHECK(asked == std::vector<int>{8, 2, 8, 2});
}

TEST_CASE("a clock that falls during the trials does not decide between candidates") {
  // The last is 1 % faster, and the clock falls by 10 % while they are tried: one after another,
  // the first would win.
  constexpr std::size_t kCount = 32;
  constexpr int kRounds = 8;
  double clock = 1.0;
  const auto seconds_of = [&](std::size_t which) {
    clock *= 1.0 - 0.1 / static_cast<double>(kCount * kRounds);
    return (which == kCount - 1 ? 0.99 : 1.0) / clock;
  };
  CHECK(fastest(kCount, kRounds, seconds_of) == kCount - 1);
  clock = 1.0;
  std::vector<double> one_after_another;
  for (std::size_t which = 0; which < kCount; ++which) {
    std::vector<double> seconds;
    for (int i = 0; i < kRounds; ++i) seconds.push_back(seconds_of(which));
    one_after_another.push_back(median(seconds));
  }
  CHECK(std::ranges::min_element(one_after_another) == one_after_another.begin());
}
