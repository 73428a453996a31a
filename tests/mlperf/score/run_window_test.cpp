#include <cmath>
#include <vector>

#include "mlperf/score/entry_score.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

using RunIndices = std::vector<std::size_t>;
using Minutes = std::vector<double>;

}  // namespace

TEST_CASE("with more runs than needed, the consecutive runs with the median score are chosen") {
  const Minutes launch = {1, 2, 3, 4, 5}, minutes = {10, 11, 12, 13, 20};
  const RunWindow window = median_window(launch, minutes, 3);
  CHECK(window.means == Minutes{11, 12, 13});
  CHECK(window.first == 1);
  CHECK(window.runs == RunIndices{1, 2, 3});
}

TEST_CASE("windows follow launch order, not names") {
  const Minutes launch = {5, 1, 4, 2, 3}, minutes = {20, 10, 13, 11, 12};
  const RunWindow window = median_window(launch, minutes, 3);
  CHECK(window.means == Minutes{11, 12, 13});
  CHECK(window.runs == RunIndices{3, 4, 2});
}

TEST_CASE("with an even number of windows, the slower one in the middle is chosen") {
  const Minutes launch = {1, 2, 3, 4}, minutes = {10, 11, 12, 13};
  const RunWindow window = median_window(launch, minutes, 3);
  CHECK(window.means == Minutes{11, 12});
  CHECK(window.first == 1);
}

TEST_CASE("windows with two failed runs count as infinitely slow in the median") {
  const Minutes launch = {1, 2, 3, 4, 5};
  const RunWindow all_but_one = median_window(launch, Minutes{HUGE_VAL, HUGE_VAL, 10, 11, 12}, 3);
  CHECK(all_but_one.means == Minutes{HUGE_VAL, 11, 11});
  CHECK(all_but_one.first == 2);
  const RunWindow most = median_window(launch, Minutes{HUGE_VAL, 10, HUGE_VAL, HUGE_VAL, 9}, 3);
  CHECK(most.means == Minutes{HUGE_VAL, HUGE_VAL, HUGE_VAL});
  const RunWindow invalid = median_window(launch, Minutes{10, HUGE_VAL, HUGE_VAL, 11, HUGE_VAL}, 3);
  CHECK(std::isinf(invalid.means[invalid.first]));
}

TEST_CASE("runs with an unknown launch time come last") {
  const Minutes launch = {NAN, 2, 1}, minutes = {7, 8, 9};
  CHECK(median_window(launch, minutes, 3).runs == RunIndices{2, 1, 0});
}

}  // namespace bench::mlperf
