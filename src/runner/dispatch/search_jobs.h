// Jobs that search for the cause of a failed or slow job on several hosts (results/localisation).
// They are added to plan.json before they run, so that an interrupted search can be resumed.
#pragma once

#include <optional>
#include <vector>

#include "results/verdicts/localisation/localisation.h"
#include "runner/dispatch/execute.h"
#include "runner/plan/planner.h"

namespace bench {

/// Enables or disables searches after jobs on several hosts that fail or miss a gate. Each step of
/// a search reads only the records appended since the step before.
void set_search(RunRequest& request, const std::optional<SearchBudget>& budget);

/// Whether a search of that run is unfinished and has budget left.
bool search_goes_on(const RunRecords& run);

/// Entries for the next search jobs: the searched job on other hosts of the plan.
std::vector<PlanEntry> search_entries(const std::vector<Localisation>& searches, const Plan& plan);

/// Also adds them to the run's plan.json. Throws Error(environment) if it cannot be written.
std::vector<PlanEntry> plan_searches(const RunDirectory& directory,
                                     const std::vector<Localisation>& searches);

}  // namespace bench
