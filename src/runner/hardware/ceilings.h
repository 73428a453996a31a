// Limits measured earlier in the same run, and the series of later jobs they apply to. The rules
// are annotations in schemas/probes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/job.h"
#include "runner/plan/probe_catalogue.h"

namespace bench {

class Ceilings {
 public:
  explicit Ceilings(const ProbeCatalogue& catalogue);

  /// Remembers the median of an ok series of this job, if its metric bounds another one.
  void observe(const Job& job, const Samples& samples);
  /// For a job that failed: its results are not limits.
  void forget(const std::string& job);

  /// The limits known so far for the job: the best of several values for the same parameters.
  std::vector<KnownLimit> limits_for(const Job& job) const;

 private:
  struct Seen {
    std::string job, probe, metric, device;
    int ranks;
    Better better;
    Json part;
    Json params;  // the job's own, overlaid by those of the series
    double median;
    bool clean;  // it is of clean samples
  };
  static std::string source_of(const Seen& seen);
  using Hosts = std::vector<std::string>;
  /// Measured by this many ranks on these hosts.
  std::vector<KnownLimit> reached(const ProbeMetric& metric, const Job& job, const Hosts& hosts,
                                  int ranks) const;
  /// Measured by one rank on every host: the slowest host's value.
  std::vector<KnownLimit> reached_by_a_rank(const ProbeMetric& metric, const Job& job) const;

  const ProbeCatalogue& catalogue_;
  std::set<std::pair<std::string, std::string>> bounding_;  // probe and metric
  std::map<Hosts, std::vector<Seen>> seen_;    // a ceiling applies to the same hosts and part
  std::map<std::string, Hosts> hosts_of_job_;  // of the jobs in seen_
};

}  // namespace bench
