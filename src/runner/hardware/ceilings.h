// Limits measured earlier in the same run, and the series of later jobs they apply to. The rules
// are annotations in schemas/probes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/job.h"
#include "runner/plan/probe_catalogue.h"

namespace bench {

class Ceilings {
 public:
  explicit Ceilings(const ProbeCatalogue& catalogue) : catalogue_(catalogue) {}

  /// Remembers the median of an ok series of this job.
  void observe(const Job& job, const Samples& samples);
  /// The job failed: its results are no limits.
  void forget(const std::string& job);

  /// What is known for the job by now. Of several values for the same parameters the best counts.
  std::vector<KnownLimit> limits_for(const Job& job) const;

 private:
  struct Seen {
    std::string job, probe, metric, device;
    int ranks;
    Better better;
    Json part;
    Json params;  // the job's own, overlaid by those of the series
    double median;
  };
  using Hosts = std::vector<std::string>;
  /// What so many ranks on these hosts reached of what bounds the metric.
  std::vector<KnownLimit> reached(const ProbeMetric& metric, const Job& job, const Hosts& hosts,
                                  int ranks) const;
  /// What one rank reached on every host, the slowest host's.
  std::vector<KnownLimit> reached_by_a_rank(const ProbeMetric& metric, const Job& job) const;

  const ProbeCatalogue& catalogue_;
  std::map<Hosts, std::vector<Seen>> seen_;  // a ceiling is one of the same hosts and part of them
  std::map<std::string, Hosts> hosts_of_job_;  // of those that were seen
};

}  // namespace bench
