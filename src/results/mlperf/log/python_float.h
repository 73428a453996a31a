// Python's float() of a string.
#pragma once

#include <optional>
#include <string_view>

namespace bench::mlperf {

/// White space by str.strip() in Latin-1.
bool is_python_space(char c);
std::string_view without_trailing_space(std::string_view text);

/// Accepts "12", " 1_000.5 ", "1e3", ".5", "-inf", "NaN"; empty if Python raises ValueError;
/// infinity if out of range. (Unlike Python, rejects non-ASCII digits.)
std::optional<double> python_float(std::string_view text);

}  // namespace bench::mlperf
