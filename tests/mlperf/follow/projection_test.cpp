#include <cmath>
#include <vector>

#include "mlperf/follow/progress_report.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

/// A loss of 5 - 0.5 ln(progress / 1000) every 1000, a second each.
std::vector<EvaluationPoint> losses(int count) {
  std::vector<EvaluationPoint> looks;
  for (int i = 1; i <= count; ++i)
    looks.push_back({1000.0 * i, 500.0 + 1000.0 * i, 5.0 - 0.5 * std::log(i)});
  return looks;
}

}  // namespace

TEST_CASE(
    "a loss that falls with the logarithm of progress is projected to the evaluation that reaches "
    "the target") {
  const Projection projection = project(losses(6), 3.8, true);  // at 1000 e^2.4 = 11023
  REQUIRE(projection.progress.has_value());
  CHECK(*projection.progress == Approx(12'000.0));
  CHECK(*projection.stop_ms == Approx(12'500.0));
  CHECK(projection.why_not.empty());
}

TEST_CASE("a rising accuracy is projected too") {
  std::vector<EvaluationPoint> looks = losses(6);
  for (EvaluationPoint& look : looks) look.quality = -look.quality;
  CHECK(*project(looks, -3.8, false).progress == Approx(12'000.0));
}

TEST_CASE("a target that the fit already crossed is projected to the next evaluation") {
  CHECK(*project(losses(6), 4.5, true).progress == Approx(7'000.0));
}

TEST_CASE("without progress there is no projection, with a reason") {
  CHECK_FALSE(project(losses(2), 3.8, true).progress.has_value());
  CHECK(project(losses(2), 3.8, true).why_not == "at least three evaluations are needed");
  CHECK_FALSE(project(losses(6), 3.8, false).progress.has_value());
  CHECK(project(losses(6), -50.0, true).why_not == "the target is too far away to project");
  std::vector<EvaluationPoint> looks = losses(6);
  looks[5].quality = std::nan("");
  CHECK_FALSE(project(looks, 3.8, true).progress.has_value());
  looks = losses(6);
  looks[5].progress = looks[4].progress;
  CHECK_FALSE(project(looks, 3.8, true).progress.has_value());
  looks = losses(6);
  for (EvaluationPoint& look : looks) look.progress -= 6000.0;
  CHECK_FALSE(project(looks, 3.8, true).progress.has_value());
}

}  // namespace bench::mlperf
