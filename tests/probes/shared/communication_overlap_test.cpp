#include "probes/shared/communication_overlap.h"

#include "tests/support/catch.h"

namespace bench {
namespace {

TEST_CASE("the overlap ratio is the saved time over the shorter side") {
  CHECK(overlap_ratio({1.0, 1.0, 1.0}) == Approx(1.0));  // at once, and nobody suffers
  CHECK(overlap_ratio({1.0, 1.0, 2.0}) == Approx(0.0));  // one after the other
  CHECK(overlap_ratio({1.0, 3.0, 3.25}) == Approx(0.75));
  CHECK(overlap_ratio({1.0, 1.0, 2.5}) == Approx(-0.5));  // they disturb each other
}

TEST_CASE("the shorter side is repeated until both take about the same time") {
  const OverlapCalls longer = balance(0.010, 0.002, 0.001);
  CHECK((longer.communications == 1 && longer.computations == 5));
  const OverlapCalls shorter = balance(0.0001, 0.003, 0.001);
  CHECK((shorter.communications == 30 && shorter.computations == 1));
  const OverlapCalls brief = balance(0.0001, 0.0002, 0.001);  // a sample must be long enough
  CHECK((brief.communications == 10 && brief.computations == 5));
  const OverlapCalls odd = balance(0.0, 1e-12, 0.001);
  CHECK((odd.communications == 1 && odd.computations == 128));
}

}  // namespace
}  // namespace bench
