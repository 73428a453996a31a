#include "mlperf/log/python_value.h"

#include <cmath>

#include "mlperf/log/python_json.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

PythonValue python(std::string_view json) {
  PythonValue value;
  PythonJsonReader reader(json);
  INFO(json);
  REQUIRE(reader.read(&value));
  REQUIRE(reader.at_end());
  return value;
}

std::string repr(std::string_view json) { return python(json).repr(); }

constexpr const char* kTwoTo63 = "9223372036854775808";
constexpr const char* kTwoTo64 = "18446744073709551616";

}  // namespace

TEST_CASE("true, 1 and 1.0 are equal but the string '1' is not, as in Python") {
  CHECK(equal(python("true"), python("1")));
  CHECK(equal(python("1"), python("1.0")));
  CHECK_FALSE(equal(python("1"), python("\"1\"")));
  CHECK_FALSE(equal(python("null"), python("0")));
  CHECK(equal(python("null"), python("null")));
}

TEST_CASE("integers and floats are compared exactly, without rounding to float") {
  CHECK_FALSE(equal(python("9007199254740993"), python("9007199254740992.0")));
  CHECK(less(python("9007199254740992.0"), python("9007199254740993")) == true);
  CHECK(equal(python(kTwoTo63), python("9223372036854775808.0")));
  CHECK(less(python("9223372036854775807"), python("9223372036854775808.0")) == true);
  CHECK(less(python("-1.5"), python("-1")) == true);
  CHECK(less(python("-1"), python("-1.5")) == false);
}

TEST_CASE("integers of more than 64 bits keep every digit") {
  CHECK(python(kTwoTo64).is_int());
  CHECK_FALSE(equal(python(kTwoTo64), python("18446744073709551617")));
  CHECK(equal(python(kTwoTo64), python("18446744073709551616.0")));
  CHECK(less(python("-18446744073709551616"), python("-18446744073709551615")) == true);
  CHECK(less(python("-18446744073709551616"), python("5")) == true);
  CHECK(less(python(kTwoTo64), python("Infinity")) == true);
  CHECK(less(python(kTwoTo64), python("1e300")) == true);
  CHECK(less(python("1e18"), python(kTwoTo64)) == true);
  CHECK(repr(kTwoTo64) == kTwoTo64);
  CHECK(python(kTwoTo64).to_json() == kTwoTo64);
}

TEST_CASE("NaN is unequal to itself, but identical to itself in a list") {
  CHECK_FALSE(equal(python("NaN"), python("NaN")));
  CHECK(same(python("NaN"), python("NaN")));
  CHECK(equal(python("[NaN]"), python("[NaN]")));
  CHECK(less(python("NaN"), python("1")) == false);
  CHECK(less_equal(python("1"), python("NaN")) == false);
}

TEST_CASE("types without an order in Python cannot be compared") {
  CHECK_FALSE(less(python("\"3.3\""), python("3.3")).has_value());
  CHECK_FALSE(less(python("null"), python("1")).has_value());
  CHECK_FALSE(less(python("{}"), python("{}")).has_value());
  CHECK_FALSE(less_equal(python("[1, \"a\"]"), python("[1, 2]")).has_value());
  CHECK(less(python("[1, 2]"), python("[1, 2, 0]")) == true);
  CHECK(less(python("\"a\""), python("\"b\"")) == true);
  CHECK(less_equal(python("[1]"), python("[true]")) == true);
}

TEST_CASE("objects are equal regardless of key order") {
  CHECK(equal(python(R"({"a": 1, "b": [2]})"), python(R"({"b": [2.0], "a": true})")));
  CHECK_FALSE(equal(python(R"({"a": 1})"), python(R"({"a": 2})")));
  CHECK_FALSE(equal(python(R"({"a": 1})"), python(R"({"a": 1, "b": 1})")));
}

TEST_CASE("repr of values is that of Python") {
  CHECK(repr("[null, true, -0, -0.0, 1e16, 1e15, 0.0001, 0.00001, 3.3]") ==
        "[None, True, 0, -0.0, 1e+16, 1000000000000000.0, 0.0001, 1e-05, 3.3]");
  CHECK(repr("[1e999, -1e999, NaN, 5e-324, 1.7976931348623157e308, 123456789.125]") ==
        "[inf, -inf, nan, 5e-324, 1.7976931348623157e+308, 123456789.125]");
  CHECK(repr(R"({"it's": "a \"b\"", "c": "\n\u0001\\"})") ==
        R"({"it's": 'a "b"', 'c': '\n\x01\\'})");
  CHECK(repr(R"("it's \"b\"")") == R"('it\'s "b"')");
}

TEST_CASE("an excerpt is short and safe to print, however long and hostile the value") {
  const std::string text = PythonValue(std::string(1'000'000, '\x9b')).excerpt();
  CHECK(text.size() < 70);
  CHECK(text.find('\x9b') == text.npos);
  CHECK(PythonValue("success").excerpt() == "'success'");
  const std::string wide = PythonValue(std::string(40, 'x') + "\xc3\xa9\xc3\xa9").excerpt(42);
  CHECK(wide.ends_with("..."));
}

TEST_CASE("values convert to valid JSON") {
  CHECK(python(R"({"a": [NaN, -Infinity, 1.5, 7, true, null]})").to_json() ==
        Json{{"a", {"NaN", "-Infinity", 1.5, 7, true, nullptr}}});
}

TEST_CASE("a value keeps the type of its C++ argument") {
  CHECK(PythonValue(true).is_bool());
  CHECK(PythonValue(7).is_int());
  CHECK(PythonValue("text").is_string());
  CHECK(PythonValue(7.0).is_float());
  CHECK(std::isnan(PythonValue("7").number()));
  CHECK(PythonValue(true).integer() == 1);
  CHECK_FALSE(PythonValue("").truth());
  CHECK(python("NaN").truth());
}

}  // namespace bench::mlperf
