#include "runner/commands/dispatch_options.h"

#include <algorithm>

#include "core/locations.h"
#include "core/log.h"
#include "core/text.h"
#include "core/version.h"
#include "results/store/store.h"
#include "runner/site/site_settings.h"

namespace bench {

void add_localise_options(CLI::App& command, LocaliseOptions& options) {
  if (options.localise)
    command.add_flag("!--no-localise", options.localise,
                     "Do not search for the host, link or GPU that caused a failure");
  else
    command.add_flag("--localise", options.localise,
                     "When a job on several hosts or GPUs fails or misses a gate, run jobs on "
                     "subsets to find the host, link or GPU responsible");
  add_value(command, "--localise-jobs", options.search.max_jobs, "N",
            "Run at most this many search jobs per run (default: 40)")
      ->check(CLI::Range(1, 100000));
  add_value(command, "--localise-time", options.search.max_s, "S",
            "Spend at most this many seconds on search jobs, summed over all jobs (default: "
            "a fifth of the run's own job time, at least 300)")
      ->check(CLI::Range(1.0, 1e7));
}

std::optional<SearchBudget> budget_of(const LocaliseOptions& options, const Plan& plan) {
  const bool any = std::ranges::any_of(plan.entries, [](const PlanEntry& entry) {
    return entry.job.hosts.size() > 1 || (entry.job.device == "cuda" && entry.job.ranks > 1);
  });
  if (!options.localise || !any) return {};
  return options.search;
}

void add_dispatch_options(CLI::App& command, DispatchOptions& options) {
  add_value(command, "--launcher", options.launcher, "auto|local|mpirun|slurm",
            "Start ranks with this; local is one rank on this host (default: auto: the launcher in "
            "site.json, else slurm in an allocation of several nodes, "
            "else mpirun for several ranks or other hosts)");
  add_value(
      command, "--parallel", options.parallel, "N",
      "Run up to this many jobs at once, on disjoint hosts (default: one per host, at most 64)")
      ->check(CLI::Range(1, 100000));
  add_value(command, "--stage", options.stage, "FILE",
            "Copy this bundle (from scripts/bundle) to a private folder on hosts without "
            "benchctl and verify it; benchctl unstage removes it");
  command.add_flag("--quiet", options.quiet, "Show no progress; warnings and errors stay");
  add_value(command, "--rank-program", options.rank_program, "FILE", "Use another bench-rank")
      ->group("");  // for tests
}

void add_live_gauges(CLI::App& command, DispatchOptions& options) {
  add_value(command, "--prometheus", options.live_gauges, "FILE",
            "Keep gauges of running trainings in this file, for node_exporter's textfile "
            "collector: step, rate, loss, gap, MFU, slowdowns");
}

std::vector<std::string> resume_command(const DispatchOptions& options,
                                        const std::filesystem::path& database) {
  const auto absolute = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).string();
  };
  std::vector<std::string> words = {(program_folder() / "benchctl").string(), "resume",
                                    "--launcher=slurm", "--db=" + absolute(database)};
  if (options.parallel > 0) words.push_back("--parallel=" + std::to_string(options.parallel));
  if (!options.stage.empty()) words.push_back("--stage=" + absolute(options.stage));
  if (!options.rank_program.empty())
    words.push_back("--rank-program=" + absolute(options.rank_program));
  if (!options.live_gauges.empty())
    words.push_back("--prometheus=" + absolute(options.live_gauges));
  return words;
}

LaunchSite launch_site(const DispatchOptions& options) {
  std::string launcher = options.launcher;
  if (launcher == "auto")
    if (const std::string here = site_settings().launcher; !here.empty()) launcher = here;
  return find_launch_site(launcher_from(launcher), options.rank_program);
}

RunRequest run_request(const DispatchOptions& options, Plan plan,
                       const std::filesystem::path& database) {
  Store::check(database);
  if (const std::string warning = open_folder_warning(database); !warning.empty())
    say(Level::warning, printable(warning));
  const auto hosts =
      static_cast<int>(std::min<std::size_t>(plan.inventory.hosts.size(), kMostAtOnce));
  RunRequest request;
  request.plan = std::move(plan);
  request.runs = runs_folder(database);
  request.style = options.quiet ? Progress::Style::silent : Progress::suitable_style();
  request.dispatcher.version = version();
  request.dispatcher.stage = options.stage;
  request.dispatcher.gauges = options.live_gauges;
  request.dispatcher.golden = GoldenValues::installed(database);
  request.dispatcher.parallel = options.parallel > 0 ? options.parallel : std::max(1, hosts);
  return request;
}

}  // namespace bench
