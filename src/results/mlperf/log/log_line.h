// One line of a log: what follows its token, as the official checker takes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "results/mlperf/log/log.h"

namespace bench::mlperf {

struct LineOutcome {
  /// Its place is for the caller to fill in. Nothing: there was trouble, or the line is left out.
  std::optional<LogEntry> entry = {};
  std::optional<Trouble> trouble = {};
  std::string why = {};  // safe to print
};

/// `body`: what follows the last token of the line, without the line's end.
LineOutcome read_line(std::string_view body);

}  // namespace bench::mlperf
