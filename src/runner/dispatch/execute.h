// One run from its plan to its records: makes the run's folder, keeps the plan, dispatches, and
// says in the spool how it ended.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "runner/dispatch/dispatcher.h"
#include "runner/dispatch/progress.h"
#include "runner/dispatch/run_directory.h"

namespace bench {

/// Jobs that follow from what a run has measured, already added to its plan.json; none where nothing
/// is left to ask.
using FollowUp = std::function<std::vector<PlanEntry>(const RunDirectory&)>;

struct RunRequest {
  Plan plan;
  Json labels = Json::object();
  std::filesystem::path runs;  // the folder of all runs
  Progress::Style style = Progress::Style::plain;
  DispatcherSettings dispatcher;
  FollowUp follow_up = {};    // asked again and again once the plan has run; may be empty
  Json localisation = Json();  // the search budget, as plan.json keeps it; null for none
};

/// Of the jobs that are going to run, in the order of the inventory.
std::vector<std::string> hosts_of(const Plan& plan);

/// Makes the run's folder and keeps the plan; nothing is started.
RunDirectory make_run(const RunRequest& request, std::int64_t time_ns);

struct Executed {
  RunDirectory directory;
  bool finished = false;  // else it was interrupted, and its records say so
};

/// Throws Error(environment) when the records cannot be kept or the rank program does not fit; what
/// was written stands.
Executed execute(const RunRequest& request, const ProbeCatalogue& catalogue, LaunchSite site);

/// Goes on with a run that ended early: of request.plan, which is the run's own, only the entries
/// that are still missing. Each begins anew; what was measured before stands.
Executed resume(const RunDirectory& directory, const RunRequest& request,
                const ProbeCatalogue& catalogue, LaunchSite site);

}  // namespace bench
