// Results that follow from other results and records of a run: shares of the time of trainings, and
// scaling efficiency. Derived whenever a run is read, so gates, reports and comparisons take them
// like measured ones; declared in schemas/probes with `judged: false`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/record.h"
#include "results/run/job_results.h"
#include "results/run/series.h"

namespace bench {

/// The last records of a training that its shares follow from.
struct TrainingTimes {
  const Chunk* breakdown = nullptr;
  const Json* facts = nullptr;  // topic "training"
};

/// The time shares of one training (probes `training` and `external`): data_stall,
/// exposed_communication, overlap_ratio and goodput, as training_breakdown.h defines them. One
/// value each, as clean as `series`, the job's, are. Empty for other probes, for jobs that did not
/// end ok, and without a breakdown.
std::vector<Series> derived_of_job(const JobResult& job, const std::vector<Series>& series,
                                   const TrainingTimes& times);

/// A series, and the host of a job that has only one; "" for jobs over several.
struct Throughput {
  const Series* series = nullptr;
  std::string place = {};
};

/// scaling_efficiency of trainings: throughput of n ranks / n, relative to that of the fewest ranks
/// (of several jobs the median of clean ones), among the jobs of a case that differ in ranks alone:
/// on the same host, or over any hosts in scopes that take several. The interval takes the outer
/// ends of both intervals. None for the fewest ranks themselves; their number is in the parameters
/// ("base_ranks").
std::vector<Series> scaling_efficiencies(std::span<const Throughput> all);

}  // namespace bench
