// Measurements of an acceptance arranged for the gates: per metric and parameters, the values of
// each host or set of hosts, run by run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/run/run_summary.h"

namespace bench {

/// One series of one run.
struct Observation {
  double value = kNoValue;  // clean median; scaled by the CPU share in a starved run
  double best = kNoValue;   // of all samples: disturbance only slows a run
  bool usable = false;      // ok, and clean or starved
  bool rough = false;       // disturbed by other work, but with a value
  bool starved = false;     // CPU withheld by a quota or an invisible neighbour
  std::optional<double> cpu_share;
  std::optional<double> throttled_s;
  std::optional<Limit> limit;
  Status outcome = Status::ok;
  std::string why;  // why it is not usable
  std::string job;
};

using Hosts = std::vector<std::string>;  // of a job, in job order

struct MetricRuns {
  std::string case_name, metric;
  Json params = Json::object();
  Unit unit = Unit::count;
  Better better = Better::none;
  double threshold = 0.0;
  /// Loss that must be excluded for a host to pass; at least the threshold.
  double resolution = 0.0;
  std::map<Hosts, std::vector<Observation>> by_hosts;
  Json settings = Json::object();  // whole_params()
  std::string device = {};         // "host", "cuda:3"
  int ranks = 1;
  std::string name = {};  // "gemm.throughput (threads 1)": what tells it from the other metrics

  /// The values of the usable runs.
  std::vector<double> values(const Hosts& hosts) const;
  /// The best sample of all runs, including rough ones; kNoValue for none.
  double best(const Hosts& hosts) const;
  /// `name`, or the metric with all its parameters.
  std::string title() const;
};

/// Only metrics with a direction and a threshold, in order of first measurement.
/// `thresholds`: as practical_threshold() takes them.
std::vector<MetricRuns> observations(const std::vector<RunSummary>& reports,
                                     const std::map<std::string, double>& thresholds);

/// Scalar parameters of the job and the series.
Json whole_params(const PlannedJob& job, const Series& series);

}  // namespace bench
