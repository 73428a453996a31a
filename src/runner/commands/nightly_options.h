// Options that nightly and nightly install share.
#pragma once

#include <string>
#include <vector>

#include "runner/commands/command.h"
#include "runner/commands/plan_options.h"
#include "runner/commands/report_pages.h"

namespace bench {

struct NightOptions : PlanOptions, ReadingOptions {
  NightOptions() { suite = "nightly"; }
  std::string budget;  // "" for the default: 30m, in a prolog 20s
  std::string faults, junit, prometheus;
  PageOptions pages;
  std::vector<std::string> hooks;
  std::vector<std::string> thresholds;
  int reruns = 3;
  double unchecked_days = 7.0;
  bool all = false, prolog = false, measured_only = false;
};

void add_night_options(CLI::App& command, NightOptions& options);

/// The command line that starts this nightly run from any folder: absolute paths, without --json
/// and --prolog.
std::vector<std::string> night_command(const NightOptions& options);

void add_nightly_install(CLI::App& nightly);
void add_nightly_pick(CLI::App& nightly, CommandResult& result);
void add_nightly_prune(CLI::App& nightly, CommandResult& result);

}  // namespace bench
