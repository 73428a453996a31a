// What metrics live from, and how much of it one side has more than the other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "results/json_fields.h"

namespace bench {

struct ComparedMetric;
struct Comparison;

/// What a metric lives from.
enum class Resource { compute, memory, links, latency, workload, other };
std::string_view to_string(Resource resource);
Resource resource_of(const std::string& metric);

/// B over A in work: above one is more. kNoValue for a metric without a direction.
double work_ratio(const ComparedMetric& metric);

/// B over A for all metrics of one resource, in work: geometric mean.
struct ResourceRatio {
  Resource resource = Resource::other;
  std::size_t metrics = 0;
  double ratio = kNoValue;
};

/// Of metrics with a direction and a ratio, in enumeration order.
std::vector<ResourceRatio> resource_ratios(const Comparison& comparison);

/// The resource whose gain is nearest to a workload's: "memory". "" if the two nearest are less
/// than a tenth apart, or none is known.
std::string follows(double ratio, const std::vector<ResourceRatio>& resources);

}  // namespace bench
