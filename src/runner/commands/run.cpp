// benchctl run SUITE: plans, runs, keeps, reports.
#include "core/locations.h"
#include "runner/commands/command.h"
#include "runner/commands/localise_options.h"
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
};

void check_batch(const RunOptions& options, const LaunchSite& site) {
  if (options.detach && !options.sbatch)
    throw Error(ErrorKind::usage, "--detach is for --sbatch: a run of ours ends with us",
                "add --sbatch, or leave it out");
  if (!options.sbatch) return;
  if (site.kind != LauncherKind::slurm)
    throw Error(ErrorKind::usage, "--sbatch needs --launcher slurm", "add it, and --hosts FILE");
  if (site.allocation)
    throw Error(ErrorKind::usage,
                "--sbatch: we are in the allocation " + site.allocation->job + " already",
                "leave it out: the run takes this allocation");
}

ExitCode run_as_batch(const RunOptions& options, const RunRequest& request) {
  const BatchJob job = submit_batch(request, resume_command(options, options.database()));
  const std::string id = job.run.filename().string();
  if (options.detach) {
    options.json ? print(Json{{"run", id}, {"slurm_job", job.number}})
                 : print("run " + id + " is the batch job " + job.number + "\n  benchctl show " +
                         id + "    what there is so far\n  benchctl resume " + id +
                         "  what is missing when the job is gone\n");
    return ExitCode::ok;
  }
  const bool ended = watch_batch(job, request);
  const ExitCode code = report_and_index(job.run, options.database(), !ended, options.json);
  return ended ? code : ExitCode::interrupted;
}

ExitCode run(const RunOptions& options) {
  RunRequest request;
  request.labels = Json(labels_from(options.labels));
  const auto database = options.database();
  request.runs = options.runs();
  PlannedRun planned = plan_from(options, database);
  check_batch(options, planned.site);
  request.plan = std::move(planned.plan);
  request.style = Progress::suitable_style();
  set_search(request, budget_of(options, request.plan));
  request.dispatcher = dispatcher_settings(options, request.plan.inventory, database);

  if (options.sbatch) return run_as_batch(options, request);
  const Executed run = execute(request, planned.catalogue, planned.site);
  request.plan = {};  // of 80,000 jobs it is large, and the report needs the room
  return report_and_index(run.directory.path(), database, !run.finished, options.json);
}

}  // namespace

void add_run(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand("run", "Run a suite, keep what it measures, report it");
  command->footer(
      "Example: benchctl run smoke --only gemm --set gemm.threads=1 --label kernel=6.1");
  auto options = std::make_shared<RunOptions>();
  add_plan_options(*command, *options);
  add_repeated(*command, "--label", options->labels, "A word to find the run by; may be repeated")
      ->type_name("KEY=VALUE");
  add_localise_options(*command, *options);
  command->add_flag("--sbatch", options->sbatch,
                    "With --launcher slurm: run as a batch job; its nodes must share the folder of "
                    "the database. ^C cancels it");
  command->add_flag("--detach", options->detach,
                    "With --sbatch: do not wait for it (default: wait, and report)");
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = run(*options); });
}

}  // namespace bench
