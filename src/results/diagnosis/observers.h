// What the job of one probe says of its training, its loader or its checkpoints.
#pragma once

#include <cstddef>
#include <vector>

#include "results/diagnosis/observation.h"
#include "results/diagnosis/run_view.h"

namespace bench::diagnosis {

/// One for each job that says anything; the case's name and the job's are filled in.
std::vector<Observation> observe_training(const RunView& view, std::size_t job);
std::vector<Observation> observe_loader(const RunView& view, std::size_t job);
std::vector<Observation> observe_checkpoint(const RunView& view, std::size_t job);

}  // namespace bench::diagnosis
