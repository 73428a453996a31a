// A night's report for people and for monitoring.
#pragma once

#include <string>

#include "results/output/document/document.h"
#include "results/verdicts/nightly/night.h"

namespace bench {

Document to_document(const Night& night);
/// A test case per host, finding and skipped check; unsettled counts as an error.
std::string to_junit(const Night& night);
/// For the Prometheus textfile collector: gauges of the night, its hosts and findings.
std::string to_prometheus(const Night& night);

}  // namespace bench
