// The options of the search that follows a job of several hosts that failed or was slow: run and
// accept share them.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "results/localisation/localisation.h"
#include "runner/plan/planner.h"

namespace bench {

struct LocaliseOptions {
  bool localise = false;  // the default differs between commands
  SearchBudget search;
};

void add_localise_options(CLI::App& command, LocaliseOptions& options);

/// Nothing where nothing is to be searched, as where no job has several hosts or GPUs.
std::optional<SearchBudget> budget_of(const LocaliseOptions& options, const Plan& plan);

}  // namespace bench
