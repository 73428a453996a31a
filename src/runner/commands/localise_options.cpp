#include "runner/commands/localise_options.h"

#include <algorithm>

namespace bench {

void add_localise_options(CLI::App& command, LocaliseOptions& options) {
  if (options.localise)
    command.add_flag("!--no-localise", options.localise,
                     "Do not search for the host, link or GPU that made a job of several fail");
  else
    command.add_flag("--localise", options.localise,
                     "Where a job of several hosts or GPUs fails, or misses a gate: search for the "
                     "host, link or GPU that does it, with jobs on parts of them");
  command
      .add_option("--localise-jobs", options.search.max_jobs,
                  "Jobs that searches of a run may take (default: 40)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command
      .add_option("--localise-time", options.search.max_s,
                  "Seconds that these may take, counted one after another (default: a fifth of "
                  "what the run's own jobs took, and at least 300)")
      ->type_name("S")
      ->check(CLI::Range(1.0, 1e7));
}

std::optional<SearchBudget> budget_of(const LocaliseOptions& options, const Plan& plan) {
  const bool any = std::ranges::any_of(plan.entries, [](const PlanEntry& entry) {
    return entry.job.hosts.size() > 1 || (entry.job.device == "cuda" && entry.job.ranks > 1);
  });
  if (!options.localise || !any) return {};
  return options.search;
}

}  // namespace bench
