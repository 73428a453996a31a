// What counts as a seed: what Python's int() takes, as the rules say.
#pragma once

#include <optional>
#include <string>

#include "results/mlperf/log/python_value.h"

namespace bench::mlperf {

/// The integer's digits; nothing where int() would raise.
std::optional<std::string> seed_text(const PythonValue& value);

}  // namespace bench::mlperf
