// A run as a text file for Prometheus, to lie in the folder of node_exporter's textfile collector.
#pragma once

#include <string>

#include "results/run_summary.h"

namespace bench {

/// Gauges alone, with help and type. One sample a result: benchctl_result_value and its interval,
/// share of its limit and outcome; one a gate; the run's outcome, exit code and time. What does not
/// exist is left out. Labels: suite, case, metric, params (JSON), unit, host, device, rank.
std::string to_prometheus(const RunSummary& report);

}  // namespace bench
