// Runs a suite over hosts until each of them is settled, or a cap is reached: what is inconclusive
// and could be settled by more of the same is run again, as runs of their own with the label
// accept=<first run>.
#pragma once

#include "results/acceptance/acceptance.h"
#include "runner/dispatch/execute.h"

namespace bench {

struct AcceptRequest {
  RunRequest run;  // the whole suite
  AcceptanceSettings settings;
  int most_runs = 9;  // of each case on each host
};

struct AcceptedRuns {
  Acceptance acceptance;
  std::vector<std::filesystem::path> runs;
};

AcceptedRuns accept_hosts(const AcceptRequest& request, const ProbeCatalogue& catalogue,
                          const LaunchSite& site);

/// The entries of the plan that could settle what is unsettled. Hosts that fell out are left out.
Plan plan_of_unsettled(const Plan& plan, const Acceptance& acceptance);

/// The same answer from runs that are kept: no job is started.
Acceptance judge_kept(const std::vector<std::filesystem::path>& runs, AcceptanceSettings settings);

}  // namespace bench
