// Fuzzes rule set expressions: rejected with an Error that has the position, or evaluated on any
// line to a value or a Python exception. Results are deterministic.
#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "core/error.h"
#include "mlperf/rules/rule_set.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;
using bench::mlperf::PythonValue;

const std::array<PythonValue, 9>& values() {
  static const std::array<PythonValue, 9> all = {
      PythonValue(),
      PythonValue(true),
      PythonValue(-256),
      PythonValue(0.0),
      PythonValue(std::numeric_limits<double>::infinity()),
      PythonValue(PythonValue::BigInteger{"-1" + std::string(400, '0')}),
      PythonValue("16"),
      PythonValue(PythonValue::List{PythonValue("samples_count"), PythonValue(1.5)}),
      PythonValue(PythonValue::Dict{{"samples_count", PythonValue(12288)}})};
  return all;
}

std::string answer(const bench::mlperf::Expression& expression, const bench::mlperf::Scope& scope) {
  try {
    return words(expression.evaluate(scope));
  } catch (const bench::mlperf::EvaluationError& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    bench::mlperf::Vocabulary vocabulary{.state = {"batch"},
                                         .lists = {{"benchmarks", {"bert", "rgat"}}},
                                         .constants = {{"target", 3.3}}};
    const bench::mlperf::Expression expression(text, vocabulary);
    const bench::mlperf::Template words(text, vocabulary);
    for (const PythonValue& value : values()) {
      const bench::mlperf::State state = {bench::mlperf::Operand(value)};
      const bench::mlperf::Scope scope{&value, &values().back(), 1.7e12, &state};
      demand(answer(expression, scope) == answer(expression, scope), "two answers for " + text);
      expected_words(expression, scope);
      found_words(expression, scope);
      words.fill(scope);
    }
  } catch (const bench::Error& error) {
    demand(error.kind() == bench::ErrorKind::input, error.what());
  }
  return 0;
}
