// Runs a suite on hosts until each has a verdict, the time budget is spent or a cap is reached:
// inconclusive cases that more runs could decide are rerun, as separate runs with the label
// accept=<first run>.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/verdicts/acceptance/acceptance.h"
#include "runner/dispatch/execute.h"
#include "runner/plan/planner.h"
#include "runner/plan/probe_catalogue.h"
#include "runner/seal/seal.h"

namespace bench {

// --threshold METRIC=SHARE.

/// By metric. Throws Error(usage) unless METRIC=SHARE with a share between 0 and 1, and for an
/// unknown metric, which would silently have no effect.
std::map<std::string, double> thresholds_from(const std::vector<std::string>& texts,
                                              const ProbeCatalogue& catalogue);

// The files of an acceptance: HTML certificates, JUnit, and a packet for each failed host.

/// Writes index.html and HOST.html files, and returns what it wrote. Throws Error(environment) if
/// one cannot be written.
WrittenFolder write_certificates(const std::filesystem::path& folder, const Acceptance& acceptance);

void write_junit(const std::filesystem::path& file, const Acceptance& acceptance);

/// Writes HOST/packet.json and packet.txt, and what their command needs: hosts.json with the host
/// alone or with the partner that shows the failure, and suite.json with the failing case and a
/// gate that fails while the fault lasts; returns the packets. `suite`: name or file. Throws
/// Error(input) if it is gone.
std::vector<WrittenFolder> write_rma_packets(const std::filesystem::path& folder,
                                             const Acceptance& acceptance,
                                             const Inventory& inventory, const std::string& suite);

inline constexpr double kDefaultAcceptBudgetS = 600.0;

/// Of the suite.
Seconds accept_budget(const Suite& suite);

struct AcceptRequest {
  RunRequest run;  // the whole suite
  AcceptanceSettings settings;
  int most_runs = 9;                      // of each case on each host
  Seconds budget{kDefaultAcceptBudgetS};  // no round begins that would take longer in all
  Seconds spent{0.0};                     // of it, before the first run
};

struct AcceptedRuns {
  Acceptance acceptance;
  std::vector<std::filesystem::path> runs;
};

AcceptedRuns accept_hosts(const AcceptRequest& request, const ProbeCatalogue& catalogue,
                          const LaunchSite& site);

/// Where single-host cases are repeated: on the hosts that they leave open, or on their peers too.
enum class Again { open_hosts, with_peers };

/// Plan entries that could decide inconclusive cases or, where there is none, unresolved metrics,
/// without hosts that dropped out; as peers of open hosts not those that failed. What would need
/// more than `most_runs` is not tried, nor the cases in `done`.
Plan plan_of_open_cases(const Plan& plan, const Acceptance& acceptance, int most_runs,
                        Again again = Again::open_hosts, const std::set<std::string>& done = {});

/// Judges stored runs without starting a job.
Acceptance judge_stored(const std::vector<std::filesystem::path>& runs,
                        AcceptanceSettings settings);

}  // namespace bench
