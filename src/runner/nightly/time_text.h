// Parses durations and times of day from the command line.
#pragma once

#include <string>

#include "core/units.h"

namespace bench {

/// "30m", "1h30m", "45s", "90" (seconds), "2d". Throws Error(usage), beginning with `option`, if
/// malformed, not above zero, or longer than a year.
Seconds seconds_from(const std::string& text, const std::string& option);

struct TimeOfDay {
  int hour = 2, minute = 0;
};

/// "02:30". Throws Error(usage).
TimeOfDay time_of_day_from(const std::string& text, const std::string& option);

}  // namespace bench
