// benchctl report KIND [RUN...]: reports on several stored runs.
#include <algorithm>
#include <filesystem>

#include "runner/commands/command.h"
#include "runner/commands/training_answer.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

struct ReportOptions : TrainingAnswer {
  std::vector<std::string> runs;
};

void add_training_report(CLI::App& report, CommandResult& result) {
  CLI::App* command = report.add_subcommand(
      "training", "Report time to train, its spread, its scaling and its bottlenecks");
  command->footer(
      "Example: benchctl report training latest --html training.html\n"
      "Runs that differ only by seed are grouped. For runs with only loader and checkpoint "
      "results, it reports what training would wait for (docs/diagnosis.md).\n"
      "Exit codes: 0 all reached their target; 1 one did not, or a check failed; 3 one could not "
      "be measured, or there is nothing to report.");
  auto options = std::make_shared<ReportOptions>();
  add_value(
      *command, "runs", options->runs, "RUN",
      "Report on these runs: IDs, ID prefixes, latest, latest~N or label:NAME=VALUE (default: "
      "latest)");
  add_training_answer(*command, *options);
  command->callback([options, &result] {
    if (options->runs.empty()) options->runs.push_back("latest");
    const auto folders = find_runs(options->database(), options->runs);
    result.code = answer_training(folders, true, *options);
  });
}

}  // namespace

void add_report(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand(
      "report",
      "Report on several runs: training, regression, calibration, scaling, fleet, roofline, site");
  command->require_subcommand(1);
  add_training_report(*command, result);
  add_regression_report(*command, result);
  add_calibration_report(*command, result);
  add_scaling_report(*command, result);
  add_fleet_report(*command, result);
  add_roofline_report(*command, result);
  add_site_report(*command, result);
}

}  // namespace bench
