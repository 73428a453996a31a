#include "results/verdicts/compare/resource.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "results/verdicts/compare/compare.h"

namespace bench {
namespace {

constexpr double kApart = 0.1;  // in logarithms

bool has_resource(Resource resource) {
  return resource == Resource::compute || resource == Resource::memory ||
         resource == Resource::links;
}

}  // namespace

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
