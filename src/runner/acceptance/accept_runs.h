// Runs a suite on hosts until each has a verdict or a cap is reached: inconclusive cases that more
// runs could decide are rerun, as separate runs with the label accept=<first run>.
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

/// Plan entries that could decide inconclusive cases, without hosts that dropped out.
Plan plan_of_open_cases(const Plan& plan, const Acceptance& acceptance);

/// Judges stored runs without starting a job.
Acceptance judge_stored(const std::vector<std::filesystem::path>& runs,
                        AcceptanceSettings settings);

}  // namespace bench
