// The report of a run: machine and warnings first, then each number with its interval, limit and
// problems.
#pragma once

#include "results/output/document/document.h"
#include "results/output/run/run_report.h"

namespace bench {

Document to_document(const RunReport& report);

}  // namespace bench
