// A run as a Prometheus text file for node_exporter's textfile collector.
#pragma once

#include <string>

#include "results/run_summary.h"

namespace bench {

/// Gauges only, with help and type. One sample per result: benchctl_result_value with its interval,
/// share of its limit and outcome; one per gate; outcome, exit code and time of the run. Missing
/// values are omitted. Labels: suite, case, metric, params (JSON), unit, host, device, rank.
std::string to_prometheus(const RunSummary& report);

}  // namespace bench
