// Formats values with unit prefixes such as "GB/s", and suggests names for misspelt ones.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace bench {

/// "113.6 GFLOP/s", "17.8 us", "64 KiB" for bytes, "3.69 GHz", "97.2 %" for a ratio, "n/a" for NaN.
/// Four significant digits; decimal prefixes for rates, binary ones for sizes.
std::string format(double value, Unit unit);
std::string format(Seconds time);
std::string format(Bytes size);

/// The known word nearest to `word` by edit distance, when it is near enough to be a slip; else "".
std::string nearest(std::string_view word, std::span<const std::string> known);
/// " Did you mean 'x'?" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Makes text from outside safe to print on a terminal: control bytes become "\xNN".
std::string printable(std::string_view text);

/// What stands last in `text`, but for line breaks behind it; safe to print.
std::string last_line(std::string_view text);

}  // namespace bench
