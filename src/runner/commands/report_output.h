// Puts the report of a run on stdout, as text that fits the terminal or as JSON.
#pragma once

#include "results/reports/run_report.h"

namespace bench {

void print_report(const RunReport& report, bool json);

}  // namespace bench
