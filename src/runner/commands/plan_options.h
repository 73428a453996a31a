// Options that select what to run and where; used by plan and run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "runner/commands/dispatch_options.h"

namespace bench {

struct PlanOptions : DispatchOptions {
  std::string suite;
  std::string hosts;
  SuiteChanges changes;
};

void add_plan_options(CLI::App& command, PlanOptions& options);

struct PlannedRun {
  ProbeCatalogue catalogue;
  LaunchSite site;
  Plan plan;
};

/// `database` holds known facts of the hosts; the runs next to it give job durations.
PlannedRun plan_from(const PlanOptions& options, const std::filesystem::path& database);
/// For a suite that is not a file.
using SuiteReader = std::function<Suite(const ProbeCatalogue&)>;
PlannedRun plan_from(const PlanOptions& options, const std::filesystem::path& database,
                     const SuiteReader& read);

}  // namespace bench
