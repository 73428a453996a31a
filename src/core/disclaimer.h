// Disclaimers for every score, comparison and package (MLPerf results messaging guidelines).
#pragma once

#include <string_view>

namespace bench::mlperf {

inline constexpr std::string_view kNotVerified = "not verified by MLCommons Association";
/// For figures that MLPerf does not define: per accelerator, efficiencies, projections.
inline constexpr std::string_view kDerived = "derived, not an official MLPerf metric";

/// For reports that include imported MLPerf results.
inline constexpr std::string_view kImportedWarning =
    "This report includes MLPerf results: comparisons and efficiencies derived "
    "from them are not verified by MLCommons Association";
/// True for metrics of `benchctl import mlperf` and `import mlperf-storage`.
inline bool is_imported(std::string_view metric) {
  return metric.starts_with("mlperf.") || metric.starts_with("mlperf_storage.");
}

}  // namespace bench::mlperf
