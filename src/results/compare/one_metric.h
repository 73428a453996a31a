// One metric of A against the same of B, by itself: what its family makes of it comes after.
#pragma once

#include "results/compare/compare.h"

namespace bench {

/// Without q, n_needed and the why of what is not settled.
ComparedMetric compare_metric(const MetricKey& key, const ValuesOfUnits& a, const ValuesOfUnits& b,
                              const CompareOptions& options);

}  // namespace bench
