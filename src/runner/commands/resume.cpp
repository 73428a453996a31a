// benchctl resume [RUN]: runs the missing jobs of a run that was interrupted, killed, or lost a
// host.
#include <algorithm>
#include <optional>
#include <set>

#include "core/locations.h"
#include "core/log.h"
#include "core/version.h"
#include "runner/commands/command.h"
#include "runner/commands/dispatch_options.h"
#include "runner/commands/report_output.h"
#include "runner/dispatch/execute.h"
#include "runner/dispatch/search_jobs.h"
#include "runner/plan/plan_json.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

struct ResumeOptions : DispatchOptions, ReadingOptions {
  std::string run = "latest";
  bool failed = false;
  bool verbose = false;
};

struct Missing {
  Plan plan;  // the run's plan, with only the missing entries
  std::optional<SearchBudget> localise;
  bool searches = false;  // a localisation search is unfinished
};

Missing find_missing(const std::filesystem::path& folder, bool failed) {
  Missing found;
  std::set<std::string> wanted;
  {
    const RunRecords run = read_run(folder);
    const auto missing = missing_jobs(run, failed);
    wanted.insert(missing.begin(), missing.end());
    found.localise = search_budget(run.plan);
    found.searches = found.localise && search_goes_on(run);
  }
  const auto file = folder / "plan.json";
  found.plan = plan_from_json(read_json(file), file.string());
  std::erase_if(found.plan.entries,
                [&](const PlanEntry& entry) { return !wanted.contains(entry.job.id); });
  return found;
}

ExitCode resume_run(const ResumeOptions& options) {
  const auto folder = find_run(options.runs(), options.run);
  Missing missing = find_missing(folder, options.failed);
  RunRequest request = run_request(options, std::move(missing.plan), options.database());
  set_search(request, missing.localise);
  bool finished = true;
  if (request.plan.entries.empty() && !missing.searches) {
    const auto records = folder / "records.jsonl";
    if (std::filesystem::exists(records) && is_torn(read_file(records)))
      Spool::append_to(records).complete_last_line();
    say(Level::info, folder.filename().string() + ": no jobs are missing");
  } else {
    finished =
        resume(RunDirectory::at(folder), request,
               ProbeCatalogue::load(data_root() / "schemas" / "probes"), launch_site(options))
            .finished;
  }
  request.plan = {};  // frees memory for the report: plans may have 80,000 jobs
  return report_and_index(folder, options.database(), !finished, {options.json, options.verbose});
}

}  // namespace

void add_resume(CLI::App& app, CommandResult& result) {
  CLI::App* command =
      app.add_subcommand("resume", "Run the missing jobs of a run that ended early");
  command->footer(
      "Runs jobs without an outcome and jobs stopped by an interruption or a lost host; with "
      "--failed also failed jobs.\nExample: benchctl resume latest");
  auto options = std::make_shared<ResumeOptions>();
  add_value(*command, "run", options->run, "RUN",
            "Resume this run: an ID, an ID prefix, or latest (default: latest)");
  command->add_flag("--failed", options->failed, "Also rerun jobs that failed or timed out");
  add_dispatch_options(*command, *options);
  add_live_gauges(*command, *options);
  add_verbose(*command, options->verbose);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = resume_run(*options); });
}

}  // namespace bench
