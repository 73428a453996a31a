#include "core/metric_names.h"

#include <array>

namespace bench {
namespace {

constexpr std::array<MetricRename, 3> kRenames{{
    {"burn.kept", "burn.sustained_ratio"},
    {"concurrency.kept", "concurrency.sustained_ratio"},
    {"concurrency.hidden", "concurrency.overlap_ratio"},
}};

}  // namespace

std::span<const MetricRename> metric_renames() { return kRenames; }

std::string_view current_metric_name(std::string_view metric) {
  for (const MetricRename& rename : kRenames)
    if (rename.old_name == metric) return rename.name;
  return metric;
}

std::vector<std::string> current_metric_names(const std::vector<std::string>& metrics) {
  std::vector<std::string> current;
  for (const std::string& metric : metrics) current.emplace_back(current_metric_name(metric));
  return current;
}

std::string current_metric_of(std::string_view probe, std::string_view metric) {
  const std::string prefix = std::string(probe) + ".";
  if (metric.starts_with(prefix)) return std::string(current_metric_name(metric));
  const std::string full = prefix + std::string(metric);
  return std::string(current_metric_name(full).substr(prefix.size()));
}

}  // namespace bench
