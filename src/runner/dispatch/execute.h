// One run from its plan to its records: makes the run's folder, keeps the plan, dispatches, and
// says in the spool how it ended.
#pragma once

#include <filesystem>
#include <optional>

#include "results/localisation/localisation.h"
#include "runner/dispatch/dispatcher.h"

namespace bench {

struct RunRequest {
  Plan plan;
  Json labels = Json::object();
  std::filesystem::path runs;  // the folder of all runs
  Progress::Style style = Progress::Style::plain;
  DispatcherSettings dispatcher;
  /// Whether jobs of several hosts that fail or miss a gate are followed by a search.
  std::optional<SearchBudget> localise = {};
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
