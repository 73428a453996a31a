// A whole night: chooses checks, runs them, runs again at once what is suspicious, keeps what was
// found in the night's run, and tells whoever asked to be told.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "results/nightly/fault_catalogue.h"
#include "results/nightly/night.h"
#include "runner/dispatch/execute.h"
#include "runner/nightly/reruns.h"

namespace bench {

/// Of its re-runs; its value is the night's run.
inline constexpr const char* kRerunLabel = "nightly";

struct NightRequest {
  RunRequest run;  // the whole suite; its plan is cut to the time there is
  std::filesystem::path database;
  FaultCatalogue faults;
  double budget_s = 1800.0;
  double reserve = 0.25;  // the share of it that is kept for re-runs
  int reruns = 3;
  double unchecked_days = 7.0;
  RerunRule rule = {};
  std::vector<std::string> hooks = {};
  bool measured_only = false;                    // Night::measured_only
  std::map<std::string, std::string> busy = {};  // nodes that are not idle, and what they are
  bool choose = true;                            // else the suite as it stands, in its order
  /// Not empty: on Slurm, and in no allocation. The night is a batch job a node that goes on with
  /// its run by these words (node_batches.h); only the re-runs take an allocation.
  std::vector<std::string> resume = {};
};

/// Throws Error(environment) when records cannot be kept, and when another night runs on this
/// database.
Night run_night(const NightRequest& request, const ProbeCatalogue& catalogue,
                const LaunchSite& site);

}  // namespace bench
