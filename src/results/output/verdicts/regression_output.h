// A regression report as a document with the histories, and as JSON
// (schemas/report_regression.json).
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/verdicts/regression/regression.h"

namespace bench {

/// The terminal shows relevant findings; `all`: also acked ones, noise and improvements.
Document to_document(const RegressionReport& report, bool all = false);
Json to_json(const RegressionReport& report);

/// Hosts with two or more failing findings since one run: "n7: 16 findings since RUN", one line
/// each.
std::vector<std::string> host_summary_lines(const RegressionReport& report);

}  // namespace bench
