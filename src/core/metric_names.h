// Metrics that were renamed: runs, databases, exports, suites and options may still use the old
// names, and every reader of such text maps them to the current ones.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct MetricRename {
  std::string_view old_name;  // with the probe's name: "burn.kept"
  std::string_view name;
};

std::span<const MetricRename> metric_renames();

/// The current name of a metric, with the probe's name; any other text comes back as it is.
std::string_view current_metric_name(std::string_view metric);
std::vector<std::string> current_metric_names(const std::vector<std::string>& metrics);

/// The same for a metric of a known probe, with or without the probe's name in front; the answer
/// has the form of `metric`.
std::string current_metric_of(std::string_view probe, std::string_view metric);

}  // namespace bench
