#include <cmath>
#include <vector>

#include "mlperf/rcp/rcp_set.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

// The appendix "RCP Examples" of the training rules: benchmark A, of 5 runs.
const std::vector<double> kBatch128 = {16, 14, 16, 17, 16, 16, 15, 16, 15, 16};
constexpr std::int64_t kRuns = 5;

}  // namespace

TEST_CASE(
    "the mean of a reference point excludes the lowest and the highest value, its deviation does "
    "not") {
  const RcpPoint point = summarise("a", 128, kBatch128, kRuns);
  CHECK(point.n == 10);
  CHECK(point.mean == 15.75);
  // numpy.std of all ten; the appendix says 0.43, of eight, and the official checker takes this.
  CHECK(point.stdev == Approx(0.7810249675906654).epsilon(1e-14));
  CHECK(point.counted == 8);
  // Of mlperf_logging's rcp_checker.
  CHECK(point.minimum == Approx(14.780735492706299).epsilon(1e-14));
  CHECK(point.max_speedup == Approx(15.75 / point.minimum));
}

TEST_CASE("with the deviation of the rules' appendix, the minimum matches the appendix") {
  CHECK(exact_minimum(15.75, std::sqrt(3.0) / 4.0, 8, kRuns) == Approx(15.21).margin(5e-3));
  CHECK(exact_minimum(20.75, std::sqrt(7.0) / 4.0, 8, kRuns) == Approx(19.93).margin(5e-3));
  // Interpolated to 192, between them, with twice the runs.
  const double deviation = (std::sqrt(3.0) + std::sqrt(7.0)) / 8.0;
  CHECK(18.25 / exact_minimum(18.25, deviation, 10, kRuns) == Approx(1.0368).margin(2e-4));
}

TEST_CASE("a mean at the minimum is significantly faster with p = 0.05") {
  RcpPoint point = summarise("a", 128, kBatch128, kRuns);
  const double exact = exact_minimum(point.mean, point.stdev, point.counted, kRuns);
  CHECK(p_of_faster(point, kRuns, exact) == Approx(0.05).epsilon(1e-9));
  CHECK(p_of_faster(point, kRuns, point.mean) == Approx(0.5));
  CHECK(p_of_faster(point, kRuns, exact - 0.1) < 0.05);
}

TEST_CASE("the minimum is the midpoint of the official checker's bisection") {
  const RcpPoint point = summarise("a", 128, kBatch128, kRuns);
  const double exact = exact_minimum(point.mean, point.stdev, point.counted, kRuns);
  CHECK(std::abs(point.minimum - exact) <= 0.5e-4);
  // A middle is mean * odd / 2^k, with k so large that the halves are no wider than 1e-4.
  const double odd = point.minimum / point.mean * std::exp2(19);
  CHECK(odd == std::floor(odd));
}

TEST_CASE("trainings of equal length allow no faster mean") {
  const RcpPoint point = summarise("a", 8, std::vector<double>(6, 4608.0), 3);
  CHECK(point.stdev == 0.0);
  CHECK(point.minimum == 4608.0);
  CHECK(point.max_speedup == 1.0);
  CHECK(std::isnan(p_of_faster(point, 3, 4000.0)));
}

}  // namespace bench::mlperf
