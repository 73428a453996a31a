// Options that control how jobs are started; used by run and resume.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/verdicts/localisation/localisation.h"
#include "runner/commands/command.h"
#include "runner/dispatch/execute.h"

namespace bench {

// Options of the search for the cause of a failed or slow job on several hosts; used by run and
// accept.

struct LocaliseOptions {
  bool localise = false;  // the default differs between commands
  SearchBudget search;
};

void add_localise_options(CLI::App& command, LocaliseOptions& options);

/// Empty if searching is off or no job has several hosts or GPUs.
std::optional<SearchBudget> budget_of(const LocaliseOptions& options, const Plan& plan);

struct DispatchOptions {
  std::string launcher = "auto";
  std::string rank_program;
  std::string stage;        // a bundle
  bool quiet = false;       // no progress
  std::string live_gauges;  // a file for the gauges of running trainings
  int parallel = 0;         // 0: as many as there are hosts, at most kMostAtOnce
};

inline constexpr int kMostAtOnce = 64;

void add_dispatch_options(CLI::App& command, DispatchOptions& options);
/// --prometheus, of commands that may run trainings.
void add_live_gauges(CLI::App& command, DispatchOptions& options);

/// The command with which a batch job resumes a run; the run's name must be appended.
std::vector<std::string> resume_command(const DispatchOptions& options,
                                        const std::filesystem::path& database);

LaunchSite launch_site(const DispatchOptions& options);
/// All settings of a run of `plan`, without labels and search. The runs and the golden values of
/// the site are next to `database`. Throws Error(input) if two golden values contradict, and as
/// Store::check() does: a run that the database could not take is refused before it starts.
RunRequest run_request(const DispatchOptions& options, Plan plan,
                       const std::filesystem::path& database);

}  // namespace bench
