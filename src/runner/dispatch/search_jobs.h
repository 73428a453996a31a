// The jobs with which a run finds out who made a job of several hosts fail or slow
// (results/localisation): they are added to its plan.json before they run, so that they are jobs
// like others, and a run that is interrupted in the middle is resumed like others.
#pragma once

#include <optional>
#include <vector>

#include "results/localisation/localisation.h"
#include "results/reports/run_report.h"
#include "runner/dispatch/execute.h"
#include "runner/plan/planner.h"

namespace bench {

/// Whether jobs of several hosts that fail or miss a gate are followed by a search.
void set_search(RunRequest& request, const std::optional<SearchBudget>& budget);

/// Whether a search of that run has more to ask and the budget for it.
bool search_goes_on(const RunReport& report);

/// Entries for what the searches ask next: the searched job on other hosts of the plan.
std::vector<PlanEntry> search_entries(const std::vector<Localisation>& searches, const Plan& plan);

/// The same, having added them to the run's plan.json. Throws Error(environment) when it cannot be
/// written.
std::vector<PlanEntry> plan_searches(const RunDirectory& directory, const RunReport& report);

}  // namespace bench
