// Natural order of names with numbers: result_2 before result_10.
#pragma once

#include <string_view>

namespace bench::mlperf {

/// A strict order. Digit sequences of any length compare as numbers; names that differ only in
/// leading zeros compare as strings.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace bench::mlperf
