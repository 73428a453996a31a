// Parses one line of a log after its token, like the official checker.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "results/mlperf/log/log.h"

namespace bench::mlperf {

struct LineOutcome {
  /// The caller sets its position. Empty: the line is invalid or skipped.
  std::optional<LogEntry> entry = {};
  std::optional<LineError> error = {};
  std::string why = {};  // safe to print
};

/// `body`: the text after the last token, without the line end.
LineOutcome read_line(std::string_view body);

}  // namespace bench::mlperf
