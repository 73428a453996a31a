// One run from its plan to its records: makes the run's folder, keeps the plan, dispatches, and
// says in the spool how it ended.
#pragma once

#include <filesystem>

#include "runner/dispatch/dispatcher.h"

namespace bench {

struct RunRequest {
  Plan plan;
  Json labels = Json::object();
  std::filesystem::path runs;  // the folder of all runs
  Progress::Style style = Progress::Style::plain;
  DispatcherSettings dispatcher;
};

/// The run's folder. An interrupted run returns too: its records say so. Throws Error(environment)
/// when the records cannot be kept or the rank program does not fit; what was written stands.
RunDirectory execute(const RunRequest& request, const ProbeCatalogue& catalogue, LaunchSite site);

/// Goes on with a run that ended early: of request.plan, which is the run's own, only the entries
/// that are still missing. Each begins anew; what was measured before stands.
void resume(const RunDirectory& directory, const RunRequest& request,
            const ProbeCatalogue& catalogue, LaunchSite site);

}  // namespace bench
