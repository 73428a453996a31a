// Parses the lines of a log after their token, like the official checker.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mlperf/log/log.h"

namespace bench::mlperf {

/// Python's float() of a string: accepts "12", " 1_000.5 ", "1e3", ".5", "-inf", "NaN"; empty if
/// Python raises ValueError; infinity if out of range. (Unlike Python, rejects non-ASCII digits.)
std::optional<double> python_float(std::string_view text);

/// Adds the next line with a token as an entry, as invalid, or only to the count. `text`: from its
/// last token to its end; the entry refers to it.
void add_line(Log& log, std::string_view text, std::int64_t line, std::int64_t column);

}  // namespace bench::mlperf
