// The fastest GEMM that `benchctl run gemm` measured on the hosts of a training with the same
// number of threads: the practical peak, as opposed to a datasheet's.
#pragma once

#include <functional>
#include <vector>

#include "results/store.h"
#include "results/training/training_report.h"

namespace bench {

/// The ok series of a metric on one host.
using SeriesFinder =
    std::function<std::vector<SeriesRow>(const std::string& metric, const std::string& host)>;

/// Over all hosts of the setup; for GPUs times the ranks per host. No value, with a reason, if a
/// host lacks that dtype and thread count.
MeasuredPeak measured_peak(const TrainingSetup& setup, const SeriesFinder& series);

}  // namespace bench
