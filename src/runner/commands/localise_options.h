// Options of the search for the cause of a failed or slow job on several hosts; used by run and
// accept.
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

/// Empty if searching is off or no job has several hosts or GPUs.
std::optional<SearchBudget> budget_of(const LocaliseOptions& options, const Plan& plan);

}  // namespace bench
