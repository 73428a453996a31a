#include "mlperf/log/python_json.h"

#include "mlperf/log/log_line.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

/// repr of the parsed value; "-" if Python raises an exception.
std::string loaded(std::string_view text) {
  PythonValue value;
  PythonJsonReader reader(text);
  PythonJsonReader looking(text);
  const bool read = reader.read(&value) && reader.at_end();
  INFO(text);
  CHECK((looking.read(nullptr) && looking.at_end()) ==
        read);  // validation alone gives the same result
  return read ? value.repr() : "-";
}

}  // namespace

TEST_CASE("what Python's json rejects is rejected") {
  for (const char* text :
       {"",          "nul",        "+1",    "01",   "-",       "-x",        "1.",
        ".5",        "1e",         "-NaN",  "'a'",  "\"a",     "\"\\x41\"", "\"\\u12g4\"",
        "\"\\u12\"", "\"a\tb\"",   "[1,]",  "[1",   "[1 2]",   "{\"a\" 1}", "{\"a\":}",
        "{a:1}",     "{\"a\":1,}", "{1:2}", "tRUE", "Infinit", "\"\\"})
    CHECK(loaded(text) == "-");
}

TEST_CASE("extensions of Python's json are accepted") {
  CHECK(loaded("[NaN, Infinity, -Infinity]") == "[nan, inf, -inf]");
  CHECK(loaded("\"\\ud83d\\ude00\"") == "'\xf0\x9f\x98\x80'");
  CHECK(loaded("\"\\/\\b\\f\"") == "'/\\x08\\x0c'");
  CHECK(loaded("\"\xe9\x80\"") == "'\xe9\x80'");  // raw bytes
  CHECK(loaded("\"\\ud800\"") == "'\xed\xa0\x80'");
  CHECK(loaded("\"\\ud800\\u0041\"") ==
        "'\xed\xa0\x80"
        "A'");
  CHECK(loaded("[1E5, 1.5e+3, 0.1e-2]") == "[100000.0, 1500.0, 0.001]");
  CHECK(loaded("{ \"a\" :\t1 , \"b\":[ ] }") == "{'a': 1, 'b': []}");
}

TEST_CASE("a duplicate key keeps its first position and its last value") {
  CHECK(loaded(R"({"a": 1, "b": 2, "a": 3})") == "{'a': 3, 'b': 2}");
  std::string many = "{";
  for (int i = 0; i < 60; ++i)
    many += "\"k" + std::to_string(i % 20) + "\": " + std::to_string(i) + ",";
  const std::string expected = loaded(many + "\"k3\": 99}");
  CHECK(expected.starts_with("{'k0': 40, 'k1': 41, 'k2': 42, 'k3': 99, 'k4': 44,"));
  CHECK(expected.ends_with("'k19': 59}"));
}

TEST_CASE("limits on nesting and digits are those of Python") {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']');
  };
  CHECK(loaded(nested(kMostNested)) != "-");
  PythonJsonReader deep(std::string_view("[[["));
  CHECK_FALSE(deep.read(nullptr));
  CHECK_FALSE(deep.too_deep());
  const std::string too_many = nested(kMostNested + 1);
  PythonJsonReader deeper(too_many);
  CHECK_FALSE(deeper.read(nullptr));
  CHECK(deeper.too_deep());
  CHECK(loaded(std::string(kMostDigits, '7')) == std::string(kMostDigits, '7'));
  CHECK(loaded(std::string(kMostDigits + 1, '7')) == "-");
  CHECK(loaded(std::string(kMostDigits + 1, '7') + ".0") == "inf");
}

TEST_CASE("a million brackets are rejected without a stack overflow") {
  const std::string brackets(1'000'000, '[');
  PythonJsonReader reader(brackets);
  CHECK_FALSE(reader.read(nullptr));
  CHECK(reader.too_deep());
}

TEST_CASE("numeric strings are parsed like Python's float()") {
  CHECK(python_float("1700000000001") == 1700000000001.0);
  CHECK(python_float(" +1_0.5e1\xa0") == 105.0);
  CHECK(python_float("-.5") == -0.5);
  CHECK(python_float("1.") == 1.0);
  CHECK(python_float("1e999") == std::numeric_limits<double>::infinity());
  CHECK(python_float("-iNFinity") == -std::numeric_limits<double>::infinity());
  CHECK(python_float("nan").has_value());
  for (const char* text : {"", " ", "1.2.3", "0x10", "1__0", "_1", "1_", "1_.0", "e5", ".", "--1",
                           "1e", "in", "nan(1)", "1 2"})
    CHECK_FALSE(python_float(text).has_value());
}

}  // namespace bench::mlperf
