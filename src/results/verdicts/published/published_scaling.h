// Scaling of published results: time to train over the accelerator count for each submitter,
// benchmark and accelerator. Time efficiency is
//   E(n) = T(n0) n0 / (T(n) n),  T the olympic mean of the raw times,
// and splits into
//   E = (throughput efficiency) / (convergence penalty),
//   throughput efficiency = (x(n) / T(n)) / (x(n0) / T(n0)) n0 / n,  penalty = x(n) / x(n0),
// x the samples (epochs) to the target: the losses of the machine, and the extra samples of a
// larger batch. All of these are derived, not MLPerf metrics.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "results/verdicts/published/published_entry.h"
#include "results/verdicts/scaling/scaling_report.h"

namespace bench::mlperf {

struct PublishedPoint {
  std::size_t entry = 0;                 // index in PublishedScaling::entries
  std::vector<std::size_t> slower = {};  // other systems with the same count, skipped
  double accelerators = 1.0;
  double accelerator_hours = kNoValue;  // from the raw time
  Ratio efficiency = {};  // 95 % interval from the scatter of the runs (Yuen); none for three runs
  double throughput_efficiency = kNoValue;
  double convergence_penalty = kNoValue;
};

struct PublishedSeries {
  std::string submitter, benchmark, division, accelerator;  // from outside
  std::vector<PublishedPoint> points = {};                  // by accelerator count, at least two
  /// mlperf.time_to_train in seconds over accelerators; laws are fitted to the runs.
  ScalingCurve curve = {};
};

struct PublishedScaling {
  std::vector<PublishedEntry> entries;
  std::vector<PublishedSeries> series;
  std::size_t single = 0;  // combinations with a single accelerator count
  std::vector<std::string> warnings;
  ExitCode exit_code = ExitCode::not_measured;  // ok if there is a series
};

struct PublishedScalingSettings {
  std::vector<double> predict_at = {};  // in addition to twice the largest count
  std::optional<double> base = {};      // the count that efficiencies refer to, not the smallest
};

/// Skips entries without a score or accelerator count and lists them in `warnings`, with a base
/// also smaller ones and series without that count. Throws Error(input) for a prediction beyond
/// twice the largest count of a series.
PublishedScaling published_scaling(std::vector<PublishedEntry> entries,
                                   const PublishedScalingSettings& settings = {});

}  // namespace bench::mlperf
