// How a metric is judged: how runs are aggregated, on which scale its noise is uniform, and which
// change matters. Used for verdicts as described in docs/statistics.md.
#pragma once

#include <span>
#include <string>

namespace bench {

/// How repeats inside one run become the run's value.
enum class Combine { median, least, greatest };

struct MetricDeclaration {
  bool exact = false;       // counts and sizes: any difference is a change, and no noise is assumed
  bool log_scale = true;    // always positive: differences are ratios
  double threshold = 0.01;  // practical: a share of the value; less is no change worth a word
  double noise_floor = 1e-4;  // smallest credible standard deviation, as a share of the value
  Combine repeats = Combine::median;
};

/// By full name ("gemm.throughput"). Undeclared metrics have the defaults above.
MetricDeclaration declaration(const std::string& metric);

/// NaN for none.
double combined(std::span<const double> repeats, Combine how);

}  // namespace bench
