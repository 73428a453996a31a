// Compares one metric of A and B; corrections for multiple comparisons follow later.
#pragma once

#include "results/verdicts/compare/compare.h"

namespace bench {

/// Without q, n_needed, and the reason for inconclusive results.
ComparedMetric compare_metric(const MetricKey& key, const ValuesOfUnits& a, const ValuesOfUnits& b,
                              const CompareOptions& options);

}  // namespace bench
