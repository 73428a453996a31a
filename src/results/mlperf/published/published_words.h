// Figures of published results in words, the same on a terminal and in a page. What is from outside
// is not made printable here.
#pragma once

#include <string>

#include "results/mlperf/published/published_scaling.h"

namespace bench::mlperf {

/// "85 %"; "" for no value.
std::string format_share(double share);
/// "llama31_8b of NVIDIA on NVIDIA Blackwell Ultra GPU (GB300)".
std::string series_title(const PublishedSeries& series);
/// What the columns of a scaling say.
std::string scaling_legend();
/// Whole numbers as they are, others with four digits; "" for no value.
std::string format_samples(double samples);

}  // namespace bench::mlperf
