// Formatting of published results shared by text and HTML reports. The results are not safe to
// print.
#pragma once

#include <string>

#include "results/mlperf/published/published_scaling.h"

namespace bench::mlperf {

/// "85 %"; "" for no value.
std::string format_share(double share);
/// "llama31_8b of NVIDIA on NVIDIA Blackwell Ultra GPU (GB300)".
std::string series_title(const PublishedSeries& series);
/// Explains the columns of a scaling table.
std::string scaling_legend();
/// Integers unchanged, other numbers with four digits; "" if not finite.
std::string format_samples(double samples);

}  // namespace bench::mlperf
