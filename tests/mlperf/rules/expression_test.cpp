#include "mlperf/rules/expression.h"

#include <cmath>
#include <string>

#include "core/error.h"
#include "mlperf/rules/rule_set.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

/// The value of an expression for a line as a string; "raises" if Python raises an exception.
std::string result(const std::string& text, const PythonValue& value = {},
                   const PythonValue& metadata = {}) try {
  Vocabulary vocabulary;
  const Expression expression(text, vocabulary);
  return words(expression.evaluate({.value = &value, .metadata = &metadata, .time_ms = 5.0}));
} catch (const EvaluationError&) {
  return "raises";
}

std::string refusal(const std::string& text) try {
  Vocabulary vocabulary{.constants = {{"target", 3.3}}};
  const Expression expression(text, vocabulary);
  return "";
} catch (const Error& error) {
  return error.what();
}

PythonValue big(const char* digits) { return PythonValue(PythonValue::BigInteger{digits}); }

}  // namespace

TEST_CASE("operator precedence is that of Python") {
  CHECK(result("1 + 2 * 3") == "7");
  CHECK(result("(1 + 2) * 3") == "9");
  CHECK(result("-2.0 ** 2") == "-4.0");
  CHECK(result("2 - 3 - 4") == "-5");
  CHECK(result("1 < 2 < 3") == "True");
  CHECK(result("1 < 3 < 2") == "False");
  CHECK(result("not 1 == 2") == "True");
  CHECK(result("true or false and false") == "True");
  CHECK(result("1 if 2 > 3 else 4 if false else 5") == "5");
  CHECK(result("0 or 7") == "7");
  CHECK(result("0 and 7") == "0");
}

TEST_CASE("and, or, conditional expressions and chained comparisons short-circuit") {
  CHECK(result("false and 1 / 0") == "False");
  CHECK(result("true or 1 / 0") == "True");
  CHECK(result("1 if true else 1 / 0") == "1");
  CHECK(result("3 < 2 < 1 / 0") == "False");
  CHECK(result("1 / 0 and false") == "raises");
}

TEST_CASE("numbers behave as in Python: exact integers, including bools") {
  CHECK(result("value == 1", PythonValue(true)) == "True");
  CHECK(result("value == 1", PythonValue(1.0)) == "True");
  CHECK(result("7 / 2") == "3.5");
  CHECK(result("4 / 2") == "2.0");
  CHECK(result("9223372036854775807 + 1") == "9223372036854775808");
  CHECK(result("value == 9007199254740993.0", PythonValue(9007199254740993)) == "False");
  CHECK(result("value > 1e308", big("1000000000000000000000")) == "False");
  CHECK(result("value - value + 3", big("1000000000000000000000")) == "3");
  CHECK(result("ceil(2.5 + 3840 / 256)") == "18");
  CHECK(result("floor(-0.5)") == "-1");
  CHECK(result("ceil(1e23)") == "99999999999999991611392");
  CHECK(result("abs(-3)") == "3");
  CHECK(result("min(3, 2)") == "2");
  CHECK(result("max(1, value)", PythonValue(1.0)) == "1");
  CHECK(result("max(1, 2.5)") == "2.5");
}

TEST_CASE("the remainder is Python's: it has the divisor's sign, and is exact for integers") {
  CHECK(result("7 % 3 * 2") == "2");
  CHECK(result("-7 % 3") == "2");
  CHECK(result("7 % -3") == "-2");
  CHECK(result("-6 % 3") == "0");
  CHECK(result("true % 2") == "1");
  CHECK(result("7.5 % -2") == "-0.5");
  CHECK(result("-4.0 % 2") == "0.0");
  CHECK(result("value % 7", big("-100000000000000000000000000000000000000001")) == "1");
  CHECK(result("5 % value", big("1000000000000000000000")) == "5");
  CHECK(result("value % 3.0", PythonValue(std::numeric_limits<double>::infinity())) == "nan");
  CHECK(result("1 % 0") == "raises");
  CHECK(result("1 % 0.0") == "raises");
  CHECK(result("value % 2", PythonValue("abc")) == "raises");
}

TEST_CASE("numeric operations raise as in Python") {
  CHECK(result("1 / 0") == "raises");
  CHECK(result("ceil(value)", PythonValue(std::nan(""))) == "raises");
  CHECK(result("floor(value)", PythonValue(std::numeric_limits<double>::infinity())) == "raises");
  CHECK(result("value * 1.0", big(("1" + std::string(400, '0')).c_str())) == "raises");
  CHECK(result("value + 1") == "raises");
  CHECK(result("value > 0") == "raises");
  CHECK(result("value > 0", PythonValue("1")) == "raises");
  CHECK(result("0.0 ** -1.0") == "raises");
  CHECK(result("1e200 ** 2.0") == "raises");
}

TEST_CASE("the root of a negative number is complex: abs works, comparisons do not") {
  CHECK(result("abs(3.0 + (-4.0) ** 0.5) > 3.6") == "True");
  CHECK(result("(-4.0) ** 0.5 > 1") == "raises");
  CHECK(result("1e-6 * (value / 256) ** 0.5 == 0", PythonValue(-256)) == "False");
}

TEST_CASE("NaN is unequal to itself and not less than anything") {
  const PythonValue nan(std::nan(""));
  CHECK(result("value == value", nan) == "False");
  CHECK(result("value != value", nan) == "True");
  CHECK(result("value <= 3.3", nan) == "False");
  CHECK(result("min(9e99, value)", nan) == "9e+99");
}

TEST_CASE("strings of digits become integers only through int()") {
  CHECK(result("int(value)", PythonValue(" -1_000 ")) == "-1000");
  CHECK(result("int(value)", PythonValue(12.9)) == "12");
  for (const char* text : {"", " ", "1.0", "_1", "1_", "1__0", "0x10", "-", "1 2"})
    CHECK(result("int(value)", PythonValue(text)) == "raises");
  CHECK(result("value == 16", PythonValue("16")) == "False");
}

TEST_CASE("is_integer accepts values close to an integer") {
  CHECK(result("is_integer(value)", PythonValue(16.000001)) == "True");
  CHECK(result("is_integer(value)", PythonValue(16.1)) == "False");
  CHECK(result("is_integer(value)", PythonValue(true)) == "True");
  CHECK(result("is_integer(value)", PythonValue("16")) == "raises");
  CHECK(result("is_integer(value)", PythonValue(std::nan(""))) == "raises");
}

TEST_CASE("`in` finds keys, elements and substrings") {
  const PythonValue dict(PythonValue::Dict{{"status", PythonValue("success")}});
  const PythonValue list(PythonValue::List{PythonValue("status"), PythonValue(1)});
  CHECK(result("'status' in metadata", {}, dict) == "True");
  CHECK(result("'success' in metadata", {}, dict) == "False");
  CHECK(result("'status' in metadata", {}, list) == "True");
  CHECK(result("'status' in metadata", {}, PythonValue("my status is")) == "True");
  CHECK(result("'status' in metadata") == "raises");
  CHECK(result("'status' in metadata", {}, PythonValue(3)) == "raises");
  CHECK(result("metadata.status", {}, dict) == "'success'");
  CHECK(result("metadata.samples_count", {}, dict) == "raises");
  CHECK(result("metadata.status", {}, list) == "raises");
  CHECK(result("value in ['closed', 'open']", PythonValue("open")) == "True");
  CHECK(result("value in [1, 2]", PythonValue(2.0)) == "True");
}

TEST_CASE("an unset state variable raises") {
  Vocabulary vocabulary;
  const Expression expression("state.batch + 1", vocabulary);
  State state(1);
  CHECK_THROWS_AS(expression.evaluate({.state = &state}), EvaluationError);
  state[0] = Operand(std::int64_t{4});
  CHECK(words(expression.evaluate({.state = &state})) == "5");
}

TEST_CASE("a syntax error has its position") {
  CHECK(refusal("value <= targe") ==
        "expression 'value <= targe', position 10: unknown name 'targe'. Did you mean 'target'?");
  CHECK(refusal("value ==") == "expression 'value ==', position 9: expected '('");
  CHECK(refusal("value == 'x") == "expression 'value == 'x', position 10: unterminated string");
  CHECK(refusal("1 2") == "expression '1 2', position 3: expected the end of the expression");
  CHECK(refusal("value; 1").find("unexpected character") != std::string::npos);
  CHECK(refusal("1.2.3").find("position 5") != std::string::npos);
  CHECK(refusal("").find("position 1") != std::string::npos);
}

TEST_CASE("expressions are limited in length and depth") {
  CHECK(refusal(std::string(3000, '1')).find("3000 bytes") != std::string::npos);
  CHECK(refusal(std::string(500, '(')).find("more than 50 levels") != std::string::npos);
  CHECK(refusal(std::string(500, '-') + "1").find("more than 50 levels") != std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 900; ++i) sum += "+1";
  CHECK(result(sum) == "901");
}

TEST_CASE("expected values are described in words") {
  Vocabulary vocabulary{.lists = {{"colours", {"red", "blue"}}}};
  const auto asked = [&](const char* text) { return expected_words({text, vocabulary}, {}); };
  CHECK(asked("value == 8192") == "8192");
  CHECK(asked("value <= 5.6 and value > 0.0") == "at most 5.6 and more than 0.0");
  CHECK(asked("value in colours") == "one of 'red', 'blue'");
  CHECK(asked("value != ''") == "not ''");
  CHECK(asked("'a' in metadata or 'b' in metadata") == "a or b in the metadata");
  CHECK(asked("is_integer(value) and value > 0") == "an integer and more than 0");
  CHECK(asked("0.0 <= value <= 1.0") == "0.0 <= value <= 1.0");
}

}  // namespace bench::mlperf
