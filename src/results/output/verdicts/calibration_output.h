// False alarms and detection power of the judgements, measured on a site's own histories, as a
// report and as JSON.
#pragma once

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/verdicts/regression/calibration.h"

namespace bench {

Document to_document(const Calibration& calibration);
Json to_json(const Calibration& calibration);

}  // namespace bench
