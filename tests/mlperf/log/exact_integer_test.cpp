#include "mlperf/log/exact_integer.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();

ExactInteger digits(const char* text) { return ExactInteger::of_digits(text); }

}  // namespace

TEST_CASE("integers keep all their digits") {
  for (const char* text : {"0", "7", "-1", "1000000000", "-999999999999999999999",
                           "18446744073709551616", "100000000000000000000000000000000000000001"})
    CHECK(digits(text).digits() == text);
  CHECK(digits("-0").digits() == "0");
  CHECK(digits("007").digits() == "7");
  CHECK(ExactInteger(kLowest).digits() == "-9223372036854775808");
}

TEST_CASE("integers are added and multiplied exactly") {
  const ExactInteger large = digits("99999999999999999999");
  CHECK((large + ExactInteger(1)).digits() == "100000000000000000000");
  CHECK((ExactInteger(1) + -large).digits() == "-99999999999999999998");
  CHECK((large + -large).digits() == "0");
  CHECK((large * large).digits() == "9999999999999999999800000000000000000001");
  CHECK((large * ExactInteger(-3)).digits() == "-299999999999999999997");
  CHECK((large * ExactInteger(0)) == ExactInteger(0));
}

TEST_CASE("an integer knows whether it fits in 64 bits") {
  CHECK(ExactInteger(kLowest).small() == kLowest);
  CHECK(ExactInteger(kHighest).small() == kHighest);
  CHECK_FALSE((ExactInteger(kHighest) + ExactInteger(1)).small());
  CHECK_FALSE((ExactInteger(kLowest) + ExactInteger(-1)).small());
}

TEST_CASE("integers are ordered by value") {
  CHECK(digits("-100000000000000000000") < ExactInteger(kLowest));
  CHECK(digits("100000000000000000000") > ExactInteger(kHighest));
  CHECK(ExactInteger(-5) < ExactInteger(-4));
  CHECK(ExactInteger(-5) < ExactInteger(0));
}

TEST_CASE("floats are truncated to integers and convert back") {
  CHECK(ExactInteger::of_real(2.9).digits() == "2");
  CHECK(ExactInteger::of_real(-2.9).digits() == "-2");
  CHECK(ExactInteger::of_real(1e23).digits() == "99999999999999991611392");
  CHECK(ExactInteger::of_real(1e300).real() == 1e300);
  CHECK(std::isinf(digits(("1" + std::string(400, '0')).c_str()).real()));
}

TEST_CASE("an integer is compared with a float without rounding") {
  constexpr std::int64_t kFirstOdd = (std::int64_t{1} << 53) + 1;
  CHECK(compare_exactly(kFirstOdd, 0x1p53) == std::partial_ordering::greater);
  CHECK(compare_exactly(ExactInteger(kFirstOdd), 0x1p53) == std::partial_ordering::greater);
  CHECK(compare_exactly(kHighest, 0x1p63) == std::partial_ordering::less);
  CHECK(compare_exactly(std::int64_t{3}, 3.5) == std::partial_ordering::less);
  CHECK(compare_exactly(ExactInteger(-3), -3.5) == std::partial_ordering::greater);
  CHECK(compare_exactly(ExactInteger(1), std::numeric_limits<double>::infinity()) ==
        std::partial_ordering::less);
  CHECK(compare_exactly(std::int64_t{1}, std::nan("")) == std::partial_ordering::unordered);
}

}  // namespace bench::mlperf
