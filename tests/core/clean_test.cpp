#include "core/clean.h"

#include "core/record.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using Values = std::vector<double>;
using Flags = std::vector<unsigned>;

TEST_CASE("clean values speak for a series while there is one") {
  const Flags flags{kClean, kStolen, kPowerCapped, kThermal, kClockMoved, kCrowded};
  CHECK(representative(Values{1, 2, 3, 4, 5, 6}, flags) == Values{1, 3});
  CHECK(count_clean(flags) == 2);
}

TEST_CASE("on a crowded machine samples without another disturbance are used") {
  CHECK(representative(Values{1, 2, 3}, Flags{kCrowded, kCrowded | kStolen, kCrowded}) ==
        Values{1, 3});
}

TEST_CASE("if every sample is disturbed, all are used") {
  CHECK(representative(Values{1, 2}, Flags{kStolen, kClockMoved}) == Values{1, 2});
  CHECK(representative(Values{}, Flags{}).empty());
}

TEST_CASE("a value without flags is not known to be clean") {
  CHECK(representative(Values{1, 2, 3}, Flags{kClean}) == Values{1});
}

}  // namespace
}  // namespace bench
