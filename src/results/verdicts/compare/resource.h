// How two sides differ in what limits metrics: compute, memory, links.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/json_fields.h"
#include "results/run/metric_catalogue.h"

namespace bench {

struct ComparedMetric;
struct Comparison;

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
