#include "probes/training/trainer/convergence.h"

#include <cmath>

#include "tests/support/catch.h"

namespace bench::training {
namespace {

CurvePoint evaluated(double samples, double gap) {
  CurvePoint point;
  point.samples = samples;
  point.gap = gap;
  return point;
}

}  // namespace

TEST_CASE("samples to the target lie on the line through the last two evaluations") {
  CHECK(samples_to_target({evaluated(100, 0.5), evaluated(200, 0.1)}, 0.2).value() == Approx(175));
  CHECK(samples_to_target({evaluated(100, 0.5), evaluated(200, 0.2)}, 0.2).value() == Approx(200));
}

TEST_CASE("a first evaluation that meets the target has no line: its samples count") {
  CHECK(samples_to_target({evaluated(100, 0.1)}, 0.2).value() == 100);
}

TEST_CASE("a curve whose last gap is above the target, or no number, has no samples to it") {
  CHECK_FALSE(samples_to_target({}, 0.2));
  CHECK_FALSE(samples_to_target({evaluated(100, 0.1), evaluated(200, 0.3)}, 0.2));
  CHECK_FALSE(samples_to_target({evaluated(100, 0.5), evaluated(200, std::nan(""))}, 0.2));
  CHECK_FALSE(meets(std::nan(""), 0.2));
}

TEST_CASE("a gap that was no number before the target was met is on no line") {
  CHECK(samples_to_target({evaluated(100, std::nan("")), evaluated(200, 0.1)}, 0.2).value() == 200);
}

}  // namespace bench::training
