// A check for people, editors and CI: report, JUnit, SARIF.
#pragma once

#include <string>

#include "core/json.h"
#include "mlperf/check/check_report.h"
#include "results/output/document/document.h"

namespace bench::mlperf {

/// One finding per line, in the form "FILE:LINE:COLUMN: error: ..." that editors can jump to.
/// Prints a finding shared by several logs of a folder once, unless `all`.
Document to_document(const CheckReport& report, bool all);
/// JUnit XML: one suite per folder; per log one case for the official verdict and, in a strict
/// report, one for the strict checks.
std::string to_junit(const CheckReport& report);
/// SARIF 2.1.0, as code hosts read it.
Json to_sarif(const CheckReport& report);

}  // namespace bench::mlperf
