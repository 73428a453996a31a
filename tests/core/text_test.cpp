#include "core/text.h"

#include <cmath>
#include <limits>

#include "core/error.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("rates and times are printed with four digits and a decimal prefix") {
  CHECK(format(113.6e9, Unit::flop_per_second) == "113.6 GFLOP/s");
  CHECK(format(0.001845, Unit::second) == "1.845 ms");
  CHECK(format(270e-9, Unit::second) == "270.0 ns");
  CHECK(format(17.8e-6, Unit::second) == "17.80 us");
  CHECK(format(3.69e9, Unit::hertz) == "3.690 GHz");
  CHECK(format(1.5e12, Unit::op_per_second) == "1.500 TOP/s");
  CHECK(format(12.34e9, Unit::byte_per_second) == "12.34 GB/s");
  CHECK(format(-2e9, Unit::byte_per_second) == "-2.000 GB/s");
  CHECK(format(Seconds{2.5}) == "2.500 s");
}

TEST_CASE("rounding up to the next thousand takes the next prefix") {
  CHECK(format(999.96e9, Unit::flop_per_second) == "1.000 TFLOP/s");
  CHECK(format(999.94e9, Unit::flop_per_second) == "999.9 GFLOP/s");
  CHECK(format(0.99999e-3, Unit::second) == "1.000 ms");
}

TEST_CASE("values beyond the largest prefix are still printed") {
  CHECK(format(0.0, Unit::second) == "0 s");
  CHECK(format(12345.0, Unit::second) == "12345 s");
  CHECK(format(5e-11, Unit::second) == "0.05000 ns");
  CHECK(format(0.25, Unit::byte_per_second) == "0.2500 B/s");
  CHECK(format(3e21, Unit::hertz) == "3000 EHz");
}

TEST_CASE("sizes have binary prefixes, and whole ones no decimals") {
  CHECK(format(65536.0, Unit::byte) == "64 KiB");
  CHECK(format(Bytes{4.0}) == "4 B");
  CHECK(format(Bytes{1536.0}) == "1.500 KiB");
  CHECK(format(Bytes{1024.0 * 1024 * 1024}) == "1 GiB");
  CHECK(format(Bytes{1000.0}) == "1000 B");
}

TEST_CASE("ratios are per cent with one decimal, counts are plain") {
  CHECK(format(0.961, Unit::ratio) == "96.1 %");
  CHECK(format(1.0, Unit::ratio) == "100.0 %");
  CHECK(format(1234.0, Unit::count) == "1234");
  CHECK(format(2.5, Unit::count) == "2.500");
  CHECK(format(1e300, Unit::count) == "1.000e+300");
}

TEST_CASE("NaN is printed as n/a in every unit") {
  for (const Unit unit : {Unit::second, Unit::byte, Unit::byte_per_second, Unit::flop_per_second,
                          Unit::op_per_second, Unit::hertz, Unit::count, Unit::ratio})
    for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL})
      CHECK(format(value, unit) == "n/a");
}

TEST_CASE("no finite number breaks the formatting") {
  for (const Unit unit : {Unit::second, Unit::byte, Unit::hertz, Unit::count, Unit::ratio})
    for (const double value :
         {std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(),
          -std::numeric_limits<double>::max(), -0.0})
      CHECK_FALSE(format(value, unit).empty());
}

TEST_CASE("the nearest name is found for a slip and for nothing else") {
  const std::vector<std::string> known = {"gemm", "memory_bandwidth", "collective", "axes", "m"};
  CHECK(nearest("gem", known) == "gemm");
  CHECK(nearest("gmem", known) == "gemm");  // two neighbours exchanged
  CHECK(nearest("axis", known) == "axes");
  CHECK(nearest("memory_bandwith", known) == "memory_bandwidth");
  CHECK(nearest("memorybandwidht", known) == "memory_bandwidth");
  CHECK(nearest("fft", known).empty());
  CHECK(nearest("x", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest(std::string(1'000'000, 'a'), known).empty());
  CHECK(did_you_mean("gem", known) == " Did you mean 'gemm'?");
  CHECK(did_you_mean("fft", known).empty());
}

TEST_CASE("text from outside cannot command the terminal") {
  CHECK(printable("plain, \xc3\xa4 and \xe2\x82\xac") == "plain, \xc3\xa4 and \xe2\x82\xac");
  CHECK(printable("\x1b[31mred\n") == "\\x1b[31mred\\x0a");
  CHECK(printable("\x7f") == "\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");  // the 8-bit control sequence introducer
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xc0\xaf \xed\xa0\x80 \xf5") == "\\xc0\\xaf \\xed\\xa0\\x80 \\xf5");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("text from outside cannot reverse or hide what is shown with it") {
  CHECK(printable("\xe2\x80\xaessap") == "\\xe2\\x80\\xaessap");  // right-to-left override
  CHECK(printable("\xe2\x81\xa6x\xe2\x81\xa9") == "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9");
  CHECK(printable("\xd8\x9c") == "\\xd8\\x9c");                    // Arabic letter mark
  CHECK(printable("a\xe2\x80\x8b") == "a\\xe2\\x80\\x8b");         // zero width space
  CHECK(printable("\xe2\x80\xa8") == "\\xe2\\x80\\xa8");           // line separator
  CHECK(printable("\xef\xbb\xbf") == "\\xef\\xbb\\xbf");           // byte order mark
  CHECK(printable("\xf3\xa0\x81\x81") == "\\xf3\\xa0\\x81\\x81");  // a tag character
  const std::string shown =
      "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xd8\xb9 \xe2\x80\x93 \xe2\x80\xa6 \xf0\x9f\x98\x80";
  CHECK(printable(shown) == shown);
  CHECK(printable(printable("\xe2\x80\xae")) == printable("\xe2\x80\xae"));
}

TEST_CASE("parts are joined with the separator between them") {
  CHECK(join({}, ", ").empty());
  CHECK(join({"a"}, ", ") == "a");
  CHECK(join({"a", "b", "c"}, ", ") == "a, b, c");
}
