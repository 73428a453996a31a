// Comparisons of published results for people and for programs.
#pragma once

#include <vector>

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/verdicts/published/published_comparison.h"

namespace bench::mlperf {

Document to_document(const std::vector<RankedBenchmark>& ranked);
Document to_document(const PublishedComparison& comparison);
/// schemas/report_mlperf_compare.json
Json to_json(const std::vector<RankedBenchmark>& ranked);
Json to_json(const PublishedComparison& comparison);

}  // namespace bench::mlperf
