// Renamed metrics: runs, databases, exports, suites and options may contain old names, which all
// readers map to the current ones.
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

/// The current name of a metric, with its probe; other text is unchanged.
std::string_view current_metric_name(std::string_view metric);
std::vector<std::string> current_metric_names(const std::vector<std::string>& metrics);

/// The same for a metric of a known probe, with or without the probe's name; the result has the
/// same form.
std::string current_metric_of(std::string_view probe, std::string_view metric);

}  // namespace bench
