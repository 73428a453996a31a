// How each metric is judged, as schemas/probes/<probe>.json declares it: which difference matters,
// on which scale its noise is uniform, which resource it measures. Read once, from the schemas
// next to the program. Used for verdicts as described in docs/statistics.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/json.h"

namespace bench {

/// The resource whose speed a metric measures; a workload needs several.
enum class Resource { compute, memory, links, latency, workload, other };
std::string_view to_string(Resource resource);

/// How repeats inside one run become the run's value.
enum class Combine { median, least, greatest };

/// The defaults are those of a metric that declares nothing else, or that no schema declares.
struct MetricDeclaration {
  bool exact = false;       // counts and sizes: any difference is a change, and no noise is assumed
  bool log_scale = true;    // always positive: differences are ratios
  double threshold = 0.01;  // practical, of a change: a share of the value
  double noise_floor = 1e-4;  // smallest credible standard deviation, as a share of the value
  bool judged = true;  // false: repeats another metric of its series, or describes the measurement
  std::string same_as = {};  // full name of the metric of its series that it repeats; "" for none
  double peer_threshold = 0.01;  // practical, of a loss against peers
  Resource resource = Resource::other;
  Combine repeats = Combine::median;
};

class MetricCatalogue {
 public:
  /// `schema`: of the probe, with its key `metrics`. Throws Error(input) naming `origin` and the
  /// metric for a class that is missing or unknown.
  void add_probe(const std::string& probe, const Json& schema, const std::string& origin);

  /// By full name ("gemm.throughput"). An undeclared metric has the defaults, and the resource that
  /// all metrics of its probe share.
  MetricDeclaration find(const std::string& metric) const;

 private:
  std::map<std::string, MetricDeclaration, std::less<>> metrics_;
  std::map<std::string, Resource, std::less<>> probes_;
};

/// Of schemas/probes. Throws Error as add_probe() and read_json() do.
const MetricCatalogue& metric_catalogue();

/// metric_catalogue().find().
MetricDeclaration declaration(const std::string& metric);

/// The practical threshold of a loss against peers; nothing for a metric that is not judged.
/// `changed`: user-defined thresholds by full metric name.
std::optional<double> practical_threshold(const std::string& metric,
                                          const std::map<std::string, double>& changed = {});

Resource resource_of(const std::string& metric);

/// NaN for none.
double combined(std::span<const double> repeats, Combine how);

}  // namespace bench
