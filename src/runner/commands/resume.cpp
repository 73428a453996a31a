// benchctl resume [RUN]: runs what is missing of a run that was interrupted, killed, or lost a
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
#include "runner/find_run.h"
#include "runner/plan/plan_json.h"

namespace bench {
namespace {

struct ResumeOptions : DispatchOptions, ReadingOptions {
  std::string run = "latest";
  bool failed = false;
};

struct Missing {
  Plan plan;  // the run's own, with the entries alone that are missing
  std::optional<SearchBudget> localise;
  bool searches = false;  // a search has more to ask
};

Missing what_is_missing(const std::filesystem::path& folder, bool failed) {
  Missing found;
  std::set<std::string> wanted;
  {
    const RunRecords run = read_run(folder);
    const auto missing = missing_jobs(run, failed);
    wanted.insert(missing.begin(), missing.end());
    found.localise = search_budget(run.plan);
    found.searches = found.localise && search_goes_on(make_run_report(run));
  }
  const auto file = folder / "plan.json";
  found.plan = plan_from_json(read_json(file), file.string());
  std::erase_if(found.plan.entries,
                [&](const PlanEntry& entry) { return !wanted.contains(entry.job.id); });
  return found;
}

ExitCode resume_run(const ResumeOptions& options) {
  const auto folder = find_run(options.runs(), options.run);
  RunRequest request;
  Missing missing = what_is_missing(folder, options.failed);
  request.plan = std::move(missing.plan);
  set_search(request, missing.localise);
  request.style = Progress::suitable_style();
  request.dispatcher = dispatcher_settings(options, request.plan.inventory, options.database());
  bool finished = true;
  if (request.plan.entries.empty() && !missing.searches)
    say(Level::info, "nothing of " + folder.filename().string() + " is missing");
  else
    finished =
        resume(RunDirectory::at(folder), request,
               ProbeCatalogue::load(data_root() / "schemas" / "probes"), launch_site(options))
            .finished;
  request.plan = {};  // of 80,000 jobs it is large, and the report needs the room
  return report_and_index(folder, options.database(), !finished, options.json);
}

}  // namespace

void add_resume(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand("resume", "Run what is missing of a run that ended early");
  command->footer(
      "Jobs without an outcome, those that an interruption or a lost host kept from running, and "
      "with --failed also those that failed.\nExample: benchctl resume latest");
  auto options = std::make_shared<ResumeOptions>();
  command->add_option("run", options->run, "A run's id, its beginning, or latest (default: latest)")
      ->type_name("RUN");
  command->add_flag("--failed", options->failed, "Also jobs that failed or took too long");
  add_dispatch_options(*command, *options);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = resume_run(*options); });
}

}  // namespace bench
