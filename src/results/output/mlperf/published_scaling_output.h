// Scalings of published results for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/published/published_scaling.h"

namespace bench::mlperf {

// Formatting of published results shared by text and HTML reports. The results are not safe to
// print.

/// "85 %"; "" for no value.
std::string format_share(double share);
/// "llama31_8b of NVIDIA on NVIDIA Blackwell Ultra GPU (GB300)".
std::string series_title(const PublishedSeries& series);
/// Explains the columns of a scaling table.
std::string scaling_legend();
/// Integers unchanged, other numbers with four digits; "" if not finite.
std::string format_samples(double samples);

std::string to_text(const PublishedScaling& scaling, const TextStyle& style);
/// The format of `report scaling` with further keys at each point:
/// schemas/report_mlperf_scaling.json.
Json to_json(const PublishedScaling& scaling);
std::string to_html(const PublishedScaling& scaling);

}  // namespace bench::mlperf
