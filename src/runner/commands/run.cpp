// benchctl run SUITE: plans and runs a suite, stores the results and reports them.
#include "core/locations.h"
#include "runner/commands/command.h"
#include "runner/commands/dispatch_options.h"
#include "runner/commands/plan_options.h"
#include "runner/commands/report_output.h"
#include "runner/dispatch/batch_run.h"
#include "runner/dispatch/search_jobs.h"

namespace bench {
namespace {

struct RunOptions : PlanOptions, ReadingOptions, LocaliseOptions {
  std::vector<std::string> labels;
  bool sbatch = false;
  bool detach = false;
  bool verbose = false;
};

void check_batch(const RunOptions& options, const LaunchSite& site) {
  if (options.detach && !options.sbatch)
    throw Error(ErrorKind::usage, "--detach requires --sbatch", "add --sbatch, or remove --detach");
  if (!options.sbatch) return;
  if (site.kind != LauncherKind::slurm)
    throw Error(ErrorKind::usage, "--sbatch requires --launcher slurm",
                "add --launcher slurm and --hosts FILE");
  if (site.allocation)
    throw Error(ErrorKind::usage, "--sbatch: already inside allocation " + site.allocation->job,
                "remove --sbatch to run in this allocation");
}

ExitCode run_as_batch(const RunOptions& options, const RunRequest& request) {
  const BatchJob job = submit_batch(request, resume_command(options, options.database()));
  const std::string id = job.run.filename().string();
  if (options.detach) {
    options.json
        ? print(Json{{"run", id}, {"slurm_job", job.number}})
        : print("run " + id + " was submitted as batch job " + job.number + "\n  benchctl show " +
                id + "    shows the results so far\n  benchctl resume " + id +
                "  runs missing jobs after the batch job has ended\n");
    return ExitCode::ok;
  }
  const bool ended = watch_batch(job, request);
  const ExitCode code =
      report_and_index(job.run, options.database(), !ended, {options.json, options.verbose});
  return ended ? code : ExitCode::interrupted;
}

ExitCode run(const RunOptions& options) {
  const std::map<std::string, std::string> labels = labels_from(options.labels);
  const auto database = options.database();
  PlannedRun planned = plan_from(options, database);
  check_batch(options, planned.site);
  RunRequest request = run_request(options, std::move(planned.plan), database);
  request.labels = Json(labels);
  set_search(request, budget_of(options, request.plan));

  if (options.sbatch) return run_as_batch(options, request);
  const Executed run = execute(request, planned.catalogue, planned.site);
  request.plan = {};  // frees memory for the report: plans may have 80,000 jobs
  return report_and_index(run.directory.path(), database, !run.finished,
                          {options.json, options.verbose});
}

}  // namespace

void add_run(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand("run", "Run a suite, store the results and report them");
  command->footer(
      "Example: benchctl run smoke --only gemm --set 'gemm.threads=[1]' --label kernel=6.1");
  auto options = std::make_shared<RunOptions>();
  add_plan_options(*command, *options);
  add_live_gauges(*command, *options);
  add_repeated(*command, "--label", options->labels, "Label the run; may be repeated")
      ->type_name("KEY=VALUE");
  add_localise_options(*command, *options);
  command->add_flag("--sbatch", options->sbatch,
                    "Submit as a batch job (with --launcher slurm); nodes must share the database "
                    "folder; Ctrl-C cancels it");
  command->add_flag("--detach", options->detach,
                    "Do not wait for the batch job of --sbatch (default: wait and report)");
  add_verbose(*command, options->verbose);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = run(*options); });
}

}  // namespace bench
