// benchctl run SUITE: plans, runs, keeps, reports.
#include "runner/commands/command.h"
#include "runner/commands/localise_options.h"
#include "runner/commands/plan_options.h"
#include "runner/commands/report_output.h"
#include "runner/dispatch/execute.h"

namespace bench {
namespace {

struct Options : PlanOptions, ReadingOptions, LocaliseOptions {
  std::vector<std::string> labels;
};

Json labels_from(const std::vector<std::string>& texts) {
  Json labels = Json::object();
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::usage, "--label " + text + ": not of the form KEY=VALUE",
                  "for example --label driver=550.54");
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

ExitCode run(const Options& options) {
  RunRequest request;
  request.labels = labels_from(options.labels);
  const auto database = options.database();
  request.runs = options.runs();
  PlannedRun planned = plan_from(options, database);
  request.plan = std::move(planned.plan);
  request.style = Progress::suitable_style();
  request.localise = budget_of(options);
  request.dispatcher = dispatcher_settings(options, request.plan.inventory, database);

  const Executed run = execute(request, planned.catalogue, planned.site);
  request.plan = {};  // of 80,000 jobs it is large, and the report needs the room
  return report_and_index(run.directory.path(), database, !run.finished, options.json);
}

}  // namespace

void add_run(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand("run", "Run a suite, keep what it measures, report it");
  command->footer(
      "Example: benchctl run smoke --only gemm --set gemm.threads=1 --label kernel=6.1");
  auto options = std::make_shared<Options>();
  add_plan_options(*command, *options);
  command->add_option("--label", options->labels, "A word to find the run by; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_localise_options(*command, *options);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = run(*options); });
}

}  // namespace bench
