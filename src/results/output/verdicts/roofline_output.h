// Rooflines as a report and as JSON.
#pragma once

#include <vector>

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/verdicts/compare/roofline.h"

namespace bench {

/// All rooflines in one figure, then the ceilings and GEMMs of each.
Document to_document(const std::vector<Roofline>& rooflines);
/// {rooflines: [{name, hardware, device, bandwidth, ceilings: [...], points: [...]}]}, by
/// schemas/report_roofline.json.
Json to_json(const std::vector<Roofline>& rooflines);

}  // namespace bench
