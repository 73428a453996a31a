// The order of names with numbers in them as people read it: result_2 before result_10.
#pragma once

#include <string_view>

namespace bench::mlperf {

/// A strict order. Runs of digits compare as numbers of any length; names that differ in leading
/// zeros alone, as texts.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace bench::mlperf
