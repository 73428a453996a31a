// Comparisons of published results for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/published/published_comparison.h"

namespace bench::mlperf {

std::string to_text(const std::vector<RankedBenchmark>& ranked, const TextStyle& style);
std::string to_text(const PublishedComparison& comparison, const TextStyle& style);
/// schemas/report_mlperf_compare.json
Json to_json(const std::vector<RankedBenchmark>& ranked);
Json to_json(const PublishedComparison& comparison);
std::string to_html(const std::vector<RankedBenchmark>& ranked);

}  // namespace bench::mlperf
