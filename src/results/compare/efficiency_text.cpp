#include "results/compare/efficiency_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.h"
#include "results/compare/compare_output.h"

namespace bench {
namespace {

constexpr double kApart = 0.1;  // in logarithms

/// B over A in work: above one is more.
double work_ratio(const ComparedMetric& metric) {
  if (metric.key.better == Better::none) return kNoValue;
  return metric.key.better == Better::lower ? 1.0 / metric.ratio : metric.ratio;
}

std::string share_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", 100.0 * share) : "";
}

std::string factor_text(double factor) {
  return std::isfinite(factor) ? fmt::format("x {:.3g}", factor) : "";
}

bool has_resource(Resource resource) {
  return resource == Resource::compute || resource == Resource::memory ||
         resource == Resource::links;
}

}  // namespace

std::vector<ResourceRatio> resource_ratios(const Comparison& comparison) {
  std::map<Resource, std::pair<std::size_t, double>> sums;
  for (const ComparedMetric& metric : comparison.metrics) {
    const double log = std::log(work_ratio(metric));
    if (!std::isfinite(log)) continue;
    ++sums[metric.resource].first;
    sums[metric.resource].second += log;
  }
  std::vector<ResourceRatio> found;
  for (const auto& [resource, sum] : sums)
    found.push_back({resource, sum.first, std::exp(sum.second / static_cast<double>(sum.first))});
  return found;
}

std::string follows(double ratio, const std::vector<ResourceRatio>& resources) {
  std::vector<std::pair<double, Resource>> distances;
  for (const ResourceRatio& one : resources)
    if (has_resource(one.resource))
      distances.emplace_back(std::abs(std::log(ratio / one.ratio)), one.resource);
  std::erase_if(distances, [](const auto& one) { return !std::isfinite(one.first); });
  std::ranges::sort(distances);
  if (distances.empty()) return "";
  if (distances.size() > 1 && distances[1].first - distances[0].first < kApart) return "";
  return std::string(to_string(distances.front().second));
}

std::string efficiency_text(const Comparison& comparison, const TextStyle& style) {
  const bool priced = std::ranges::any_of(comparison.metrics, [](const ComparedMetric& metric) {
    return std::isfinite(metric.per_dollar);
  });
  if (comparison.hardware_a == comparison.hardware_b && !priced) return "";
  const auto resources = resource_ratios(comparison);
  Table table({{.title = "metric", .right = false},
               {.title = "params", .right = false, .drop = 1},
               {.title = "lives from", .right = false},
               {.title = "A of limit"},
               {.title = "B of limit"},
               {.title = "work"},
               {.title = "a watt"},
               {.title = "a GPU"},
               {.title = "a dollar"}});
  for (const ComparedMetric& metric : comparison.metrics) {
    const double ratio = work_ratio(metric);
    if (!std::isfinite(ratio)) continue;
    std::string lives(to_string(metric.resource));
    if (metric.resource == Resource::workload)
      if (const std::string from = follows(ratio, resources); !from.empty())
        lives += " (gains as " + from + ")";
    table.add({{printable(metric.key.metric)},
               {printable(params_text(metric.params))},
               {lives},
               {share_text(metric.a.of_limit)},
               {share_text(metric.b.of_limit)},
               {factor_text(ratio)},
               {factor_text(metric.per_watt)},
               {factor_text(metric.per_gpu)},
               {factor_text(metric.per_dollar)}});
  }
  std::string text = table.render(2, style);
  for (const ResourceRatio& one : resources)
    text += fmt::format("  {:<10} x {:.3g}, geometric mean of the {} above\n",
                        to_string(one.resource), one.ratio, one.metrics);
  return text;
}

}  // namespace bench
