// A seed is what Python's int() accepts, by the rules.
#pragma once

#include <optional>
#include <string>

#include "results/mlperf/log/python_value.h"

namespace bench::mlperf {

/// The digits of the integer; empty if int() would raise an exception.
std::optional<std::string> seed_text(const PythonValue& value);

}  // namespace bench::mlperf
