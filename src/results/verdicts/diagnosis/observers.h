// Observations of a job by probe: training, data loader or checkpoint.
#pragma once

#include <cstddef>
#include <vector>

#include "results/verdicts/diagnosis/observation.h"
#include "results/verdicts/diagnosis/run_view.h"

namespace bench::diagnosis {

/// One per usable job; the caller fills in case name and job.
std::vector<Observation> observe_training(const RunView& view, std::size_t job);
std::vector<Observation> observe_loader(const RunView& view, std::size_t job);
std::vector<Observation> observe_checkpoint(const RunView& view, std::size_t job);

}  // namespace bench::diagnosis
