#include "devices/cuda/cublas_algorithms.h"

#include <vector>

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("of proposed algorithms the fastest is taken, of equals the library's first") {
  const std::vector<double> seconds = {3.0, 2.0, 5.0, 2.0};
  std::vector<std::size_t> asked;
  const auto seconds_of = [&](std::size_t which) {
    asked.push_back(which);
    return seconds.at(which);
  };
  CHECK(fastest(seconds.size(), seconds_of) == 1);
  CHECK(asked == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(fastest(1, seconds_of) == 0);
  CHECK(fastest(0, seconds_of) == 0);
}
