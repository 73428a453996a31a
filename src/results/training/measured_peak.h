// The fastest product of matrices that `benchctl run gemm` measured on the hosts of a training,
// with as many threads as it has there: what these machines can do, beside what a datasheet says.
#pragma once

#include <functional>
#include <vector>

#include "results/store.h"
#include "results/training/training_report.h"

namespace bench {

/// The ok series of a metric on one host.
using SeriesFinder =
    std::function<std::vector<SeriesRow>(const std::string& metric, const std::string& host)>;

/// Over all hosts of the setup; of a GPU times the ranks on each host. No value, and why, where one
/// host has none of that type and number of threads.
MeasuredPeak measured_peak(const TrainingSetup& setup, const SeriesFinder& series);

}  // namespace bench
