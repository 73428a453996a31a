#include "results/output/mlperf/score_words.h"

#include "tests/support/catch.h"

namespace bench::mlperf {

TEST_CASE("halfway minutes are rounded up in spite of rounding errors") {
  CHECK(format_minutes((1'000'599'673.0 - 1e9) / 60'000.0) == "9.9946");
  CHECK(format_minutes(9.994549999999998) == "9.9946");
  CHECK(format_minutes(9.99454) == "9.9945");
  CHECK(format_minutes(5.2187) == "5.2187");
}

}  // namespace bench::mlperf
