// Which metrics accept a host, and what difference matters in each: until thresholds are learned
// from a fleet, one for each class of metric.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace bench {

/// The practical threshold: a host that loses no more than this against its peers is as good as
/// they are. Arithmetic and clocks 6 %, memory, copies and latencies of memory 2 %, bus bandwidth
/// of collectives 3 %, all others 1 %. Nothing for a metric that says the same as another of its
/// series (collective.algbw, memory_bandwidth.traffic), or describes the measurement. `changed`:
/// thresholds of the user's, by the metric's full name.
std::optional<double> practical_threshold(const std::string& metric,
                                          const std::map<std::string, double>& changed = {});

}  // namespace bench
