// Parses one line of a log after its token, like the official checker.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mlperf/log/log.h"

namespace bench::mlperf {

// Python's float() of a string.

/// White space by str.strip() in Latin-1.
bool is_python_space(char c);
std::string_view without_trailing_space(std::string_view text);

/// Accepts "12", " 1_000.5 ", "1e3", ".5", "-inf", "NaN"; empty if Python raises ValueError;
/// infinity if out of range. (Unlike Python, rejects non-ASCII digits.)
std::optional<double> python_float(std::string_view text);

struct LineOutcome {
  /// The caller sets its position. Empty: the line is invalid or skipped.
  std::optional<LogEntry> entry = {};
  std::optional<LineError> error = {};
  std::string why = {};  // safe to print
};

/// `body`: the text after the last token, without the line end.
LineOutcome read_line(std::string_view body);

}  // namespace bench::mlperf
