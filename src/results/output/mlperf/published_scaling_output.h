// Scalings of published results for people and for programs.
#pragma once

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/verdicts/published/published_scaling.h"

namespace bench::mlperf {

Document to_document(const PublishedScaling& scaling);
/// The format of `report scaling` with further keys at each point:
/// schemas/report_mlperf_scaling.json.
Json to_json(const PublishedScaling& scaling);

}  // namespace bench::mlperf
