// Python's float() of a text.
#pragma once

#include <optional>
#include <string_view>

namespace bench::mlperf {

/// White space as str.strip() knows it in Latin-1.
bool is_python_space(char c);
std::string_view without_trailing_space(std::string_view text);

/// "12", " 1_000.5 ", "1e3", ".5", "-inf", "NaN"; nothing where Python raises ValueError. Past the
/// range an infinity. (Digits of other scripts, which Python takes too, are refused.)
std::optional<double> python_float(std::string_view text);

}  // namespace bench::mlperf
