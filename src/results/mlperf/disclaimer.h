// What every score, comparison and package of ours carries (MLPerf results messaging guidelines).
#pragma once

#include <string_view>

namespace bench::mlperf {

inline constexpr std::string_view kNotVerified = "not verified by MLCommons Association";
/// Figures that MLPerf does not define: per accelerator, efficiencies, projections.
inline constexpr std::string_view kDerived = "derived, not an official MLPerf metric";

/// What reports on our own runs say where imported MLPerf results are among them.
inline constexpr std::string_view kImportedWarning =
    "This report includes MLPerf results: comparisons and efficiencies derived "
          "from them are not verified by MLCommons Association";
/// Of `benchctl import mlperf`.
inline bool is_imported(std::string_view metric) { return metric.starts_with("mlperf."); }

}  // namespace bench::mlperf
