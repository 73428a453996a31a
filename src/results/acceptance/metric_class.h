// The metrics that acceptance judges, and the tolerance of each: one per class of metric until
// thresholds are learned from a fleet.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace bench {

/// The practical threshold: a loss against peers up to this counts as equal. Arithmetic and clocks
/// 6 %, memory, copies and latencies of memory 2 %, bus bandwidth of collectives 3 %, all others 1
/// %. Nothing for a metric that repeats another of its series (collective.algbw,
/// memory_bandwidth.traffic), or describes the measurement. `changed`: user-defined thresholds by
/// full metric name.
std::optional<double> practical_threshold(const std::string& metric,
                                          const std::map<std::string, double>& changed = {});

}  // namespace bench
