// Pages of MLPerf reports as the commands make them, for page_samples.
#pragma once

#include <filesystem>

namespace bench::mlperf {

/// Writes mlperf_scores.html, mlperf_check.html, mlperf_package.html, mlperf_ranking.html,
/// mlperf_comparison.html, mlperf_scaling.html and mlperf_storage.html.
void write_mlperf_pages(const std::filesystem::path& folder);

}  // namespace bench::mlperf
