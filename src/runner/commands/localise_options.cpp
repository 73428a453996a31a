#include "runner/commands/localise_options.h"

#include <algorithm>

namespace bench {

void add_localise_options(CLI::App& command, LocaliseOptions& options) {
  if (options.localise)
    command.add_flag("!--no-localise", options.localise,
                     "Do not search for the host, link or GPU that caused a failure");
  else
    command.add_flag("--localise", options.localise,
                     "When a job on several hosts or GPUs fails or misses a gate, run jobs on subsets to find the host, link or GPU responsible");
  command
      .add_option("--localise-jobs", options.search.max_jobs,
                  "Run at most this many search jobs per run (default: 40)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command
      .add_option("--localise-time", options.search.max_s,
                  "Spend at most this many seconds on search jobs, summed over all jobs (default: a fifth of the run's own job time, at least 300)")
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
