// The options that say what to run and where: plan and run share them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "runner/commands/dispatch_options.h"
#include "runner/plan/planner.h"

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

/// `database`: what earlier runs found out about the hosts; the runs beside it, for the times that
/// jobs took.
PlannedRun plan_from(const PlanOptions& options, const std::filesystem::path& database);
/// Of a suite that is no file.
using SuiteReader = std::function<Suite(const ProbeCatalogue&)>;
PlannedRun plan_from(const PlanOptions& options, const std::filesystem::path& database,
                     const SuiteReader& read);

}  // namespace bench
