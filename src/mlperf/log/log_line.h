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

/// Whether two texts differ only in JSON numbers of at most 30 characters, at the same places and
/// not next to an underscore; `a` has no backslash. Then one of them is valid JSON if the other is,
/// with the same words, and strings of both are floats for Python or neither.
bool differ_in_numbers(std::string_view a, std::string_view b);

/// Adds the lines of a log.
class LineReader {
 public:
  explicit LineReader(Log& log) : log_(log) {}

  /// Adds the next line with a token as an entry, as invalid, or only to the count. `text`: from
  /// its last token to its end; the entry refers to it, and the reader as long as it adds lines.
  void add(std::string_view text, std::int64_t line, std::int64_t column);

 private:
  Log& log_;
  /// The last line that was only counted. Most such lines repeat it with other numbers.
  std::string_view counted_ = {};
};

}  // namespace bench::mlperf
