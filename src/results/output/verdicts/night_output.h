// A night's report for people and for monitoring.
#pragma once

#include <string>

#include "results/output/document/text_style.h"
#include "results/verdicts/nightly/night.h"

namespace bench {

std::string to_text(const Night& night, const TextStyle& style);
/// One self-contained page.
std::string to_html(const Night& night);
/// A test case per host, finding and skipped check; unsettled counts as an error.
std::string to_junit(const Night& night);
/// For the Prometheus textfile collector: gauges of the night, its hosts and findings.
std::string to_prometheus(const Night& night);
/// "n1  memory_bandwidth.rate (pages huge)  -4.9 %  confirmed: ..."
std::string finding_line(const NightFinding& finding);

}  // namespace bench
