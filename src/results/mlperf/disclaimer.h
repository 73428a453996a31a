// What every score, comparison and package of ours carries (MLPerf results messaging guidelines).
#pragma once

#include <string_view>

namespace bench::mlperf {

inline constexpr std::string_view kNotVerified = "not verified by MLCommons Association";
/// Figures that MLPerf does not define: per accelerator, efficiencies, projections.
inline constexpr std::string_view kDerived = "derived, not an official MLPerf metric";

}  // namespace bench::mlperf
