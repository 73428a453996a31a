#include <cmath>

#include "tests/support/catch.h"
#include "training/trainer/training_run.h"

namespace bench::training {
namespace {

CurvePoint evaluated(double samples, double gap) {
  CurvePoint point;
  point.samples = samples;
  point.gap = gap;
  return point;
}

}  // namespace

TEST_CASE("samples to target are interpolated between the last two evaluations") {
  CHECK(samples_to_target({evaluated(100, 0.5), evaluated(200, 0.1)}, 0.2).value() == Approx(175));
  CHECK(samples_to_target({evaluated(100, 0.5), evaluated(200, 0.2)}, 0.2).value() == Approx(200));
}

TEST_CASE("without an earlier evaluation, samples to target are not interpolated") {
  CHECK(samples_to_target({evaluated(100, 0.1)}, 0.2).value() == 100);
}

TEST_CASE("a curve whose last gap is above the target or NaN has no samples to target") {
  CHECK_FALSE(samples_to_target({}, 0.2));
  CHECK_FALSE(samples_to_target({evaluated(100, 0.1), evaluated(200, 0.3)}, 0.2));
  CHECK_FALSE(samples_to_target({evaluated(100, 0.5), evaluated(200, std::nan(""))}, 0.2));
  CHECK_FALSE(meets(std::nan(""), 0.2));
}

TEST_CASE("a NaN gap before the target is not interpolated") {
  CHECK(samples_to_target({evaluated(100, std::nan("")), evaluated(200, 0.1)}, 0.2).value() == 200);
}

}  // namespace bench::training
