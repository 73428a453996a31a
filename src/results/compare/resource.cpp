#include "results/compare/resource.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "results/compare/compare.h"

namespace bench {
namespace {

constexpr double kApart = 0.1;  // in logarithms

// Metric name prefixes; the first match wins.
constexpr std::array<std::pair<std::string_view, Resource>, 20> kResources{{
    {"gemm.", Resource::compute},
    {"instruction_peak.", Resource::compute},
    {"clock.", Resource::compute},
    {"burn.gemm_rate", Resource::compute},
    {"burn.sustained_ratio", Resource::compute},
    {"concurrency.gemm_rate", Resource::compute},
    {"memory_bandwidth.", Resource::memory},
    {"memory_latency.", Resource::latency},
    {"burn.memory_rate", Resource::memory},
    {"concurrency.memory_rate", Resource::memory},
    {"copy.", Resource::links},
    {"collective.latency", Resource::latency},
    {"collective.init_time", Resource::latency},
    {"collective.", Resource::links},
    {"burn.copy_rate", Resource::links},
    {"concurrency.copy_rate", Resource::links},
    {"concurrency.communication_rate", Resource::links},
    {"launch_latency.", Resource::latency},
    {"training.", Resource::workload},
    {"external.", Resource::workload},
}};

bool has_resource(Resource resource) {
  return resource == Resource::compute || resource == Resource::memory ||
         resource == Resource::links;
}

}  // namespace

Resource resource_of(const std::string& metric) {
  for (const auto& [beginning, resource] : kResources)
    if (metric.starts_with(beginning)) return resource;
  return Resource::other;
}

std::string_view to_string(Resource resource) {
  constexpr std::array<std::string_view, 6> kNames = {"compute", "memory",   "links",
                                                      "latency", "workload", "other"};
  return kNames[static_cast<std::size_t>(resource)];
}

double work_ratio(const ComparedMetric& metric) {
  if (metric.key.better == Better::none) return kNoValue;
  return metric.key.better == Better::lower ? 1.0 / metric.ratio : metric.ratio;
}

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

}  // namespace bench
