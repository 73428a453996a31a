// Executes one run: makes its folder, stores the plan, dispatches the jobs, and records how it
// ended.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "core/json.h"
#include "runner/dispatch/dispatcher.h"
#include "runner/dispatch/progress.h"
#include "runner/dispatch/run_directory.h"

namespace bench {

// The environment variables stored with a run: only those that affect results, because an
// environment may hold secrets.

/// {name: value} of the allowed variables that are set.
Json kept_environment(const char* const* variables);

/// This program's command line, as an array of strings.
Json kept_command();

/// Returns jobs that follow from the results so far, already added to plan.json; empty if there are
/// none.
using FollowUp = std::function<std::vector<PlanEntry>(const RunDirectory&)>;

struct RunRequest {
  Plan plan;
  Json labels = Json::object();
  std::filesystem::path runs;  // the folder of all runs
  Progress::Style style = Progress::Style::plain;
  DispatcherSettings dispatcher;
  FollowUp follow_up = {};     // called repeatedly after the plan has run; may be empty
  Json localisation = Json();  // the search budget as stored in plan.json; null for none
};

/// The hosts of the jobs to run, in inventory order.
std::vector<std::string> hosts_of(const Plan& plan);

/// Makes the run's folder and stores the plan; starts nothing.
RunDirectory make_run(const RunRequest& request, std::int64_t time_ns);

struct Executed {
  RunDirectory directory;
  bool finished = false;  // false: interrupted, as its records show
};

/// Throws Error(environment) if records cannot be written or the rank program has another version;
/// records written so far remain.
Executed execute(const RunRequest& request, const ProbeCatalogue& catalogue, LaunchSite site);

/// Resumes a run that ended early. request.plan has the run's missing entries only; each starts
/// from the beginning, and earlier results remain.
Executed resume(const RunDirectory& directory, const RunRequest& request,
                const ProbeCatalogue& catalogue, LaunchSite site);

}  // namespace bench
