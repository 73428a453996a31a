// Runs a night: chooses checks, runs them, reruns suspicious ones immediately, stores findings in
// the run and calls hooks.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/units.h"
#include "results/verdicts/nightly/fault_catalogue.h"
#include "results/verdicts/nightly/night.h"
#include "runner/dispatch/execute.h"
#include "runner/nightly/reruns.h"

namespace bench {

// Calls a program for each finding, with its JSON on standard input. The program is started
// directly: no shell sees text from a host.

/// Throws Error(environment) for a missing or non-executable program, before the night starts.
void check_hooks(const std::vector<std::string>& programs);

/// Calls every program for each finding that was not dropped, in sequence; kills it after
/// `patience`. Failures are noted in `trouble`.
std::vector<HookCall> call_hooks(const std::vector<std::string>& programs,
                                 const std::vector<NightFinding>& findings,
                                 Seconds patience = Seconds{30.0});

/// Label of its reruns; its value is the first run of the night.
inline constexpr const char* kRerunLabel = "nightly";

struct NightRequest {
  RunRequest run;  // the whole suite; its plan is cut to the budget
  std::filesystem::path database;
  FaultCatalogue faults;
  double budget_s = 1800.0;
  double reserve = 0.25;  // share reserved for reruns
  int reruns = 3;
  double unchecked_days = 7.0;
  RerunRule rule = {};
  std::vector<std::string> hooks = {};
  bool measured_only = false;                    // Night::measured_only
  std::map<std::string, std::string> busy = {};  // nodes that are not idle, with their state
  bool choose = true;                            // false: run the whole suite in order
  /// Not empty on Slurm outside an allocation: each node gets a batch job that resumes its run with
  /// this command (node_batches.h); only reruns use an allocation.
  std::vector<std::string> resume = {};
};

/// Throws Error(environment) if records cannot be written, or if another night uses this database.
Night run_night(const NightRequest& request, const ProbeCatalogue& catalogue,
                const LaunchSite& site);

}  // namespace bench
