// What the runs of an acceptance measured, turned the way the gates look at it: for each metric at
// one set of parameters the values of every host, or of every set of hosts, run by run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/run_summary.h"

namespace bench {

/// One series of one run.
struct Observation {
  double value = kNoValue;  // clean median; of a starved run times the share of the CPU it had
  double best = kNoValue;   // of all samples: what disturbed a run only made it slower
  bool usable = false;      // it can speak for the host: ok, and clean or starved
  bool rough = false;       // not usable, but a value: other work ran beside it
  bool starved = false;     // a quota, or nobody that is to be seen, kept the CPU from it
  std::optional<double> cpu_share;
  std::optional<double> throttled_s;
  std::optional<Limit> limit;
  Status outcome = Status::ok;
  std::string why;  // why it is not usable
  std::string job;
};

using Hosts = std::vector<std::string>;  // of a job, in its order

struct MetricRuns {
  std::string case_name, metric;
  Json params = Json::object();
  Unit unit = Unit::count;
  Better better = Better::none;
  double threshold = 0.0;
  std::map<Hosts, std::vector<Observation>> by_hosts;
  Json settings = Json::object();  // all that is one value: of the job and of the series
  std::string device = {};         // "host", "cuda:3"
  int ranks = 1;

  /// The values of the usable runs.
  std::vector<double> values(const Hosts& hosts) const;
  /// The best sample of all runs that have one, rough ones too; kNoValue for none.
  double best(const Hosts& hosts) const;
  /// "gemm.throughput (dtype f32, threads 1)".
  std::string title() const;
};

/// Only metrics with a direction and a threshold; in the order in which they were measured first.
/// `thresholds`: as practical_threshold() takes them.
std::vector<MetricRuns> observations(const std::vector<RunSummary>& reports,
                                     const std::map<std::string, double>& thresholds);

}  // namespace bench
