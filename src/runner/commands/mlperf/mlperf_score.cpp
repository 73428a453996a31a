// benchctl mlperf score PATH: score MLPerf Training logs.
#include "core/whole_file.h"
#include "mlperf/score/submission_score.h"
#include "results/output/mlperf/score_csv.h"
#include "results/output/mlperf/score_output.h"
#include "runner/commands/mlperf/mlperf_command.h"
#include "runner/commands/report_pages.h"

namespace bench {
namespace {

struct ScoreOptions {
  std::filesystem::path path;
  mlperf::SubmissionScoreSettings settings;
  std::string csv;
  PageOptions pages;
  bool details = false, json = false;
};

void describe_score(CLI::App& command, ScoreOptions& options) {
  command.footer(
      "Example: benchctl mlperf score submission --html scores.html\n"
      "PATH is a round, an organisation, a system, a benchmark's folder or a log; it is only "
      "read.\n"
      "With more runs than required, the consecutive runs with the median score count.\n"
      "Exit codes: 0 every entry has a score; 1 an entry has none; 2 no logs; 3 "
      "unknown benchmark.");
  command.add_option("path", options.path, "Score the logs below this path")
      ->required()
      ->type_name("PATH");
  add_round_options(command, options.settings);
  command
      .add_option("--batch", options.settings.batches,
                  "Project the score to another global batch size; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command.add_flag("--rcp-bypass", options.settings.rcp_bypass,
                   "Treat a failed convergence test as a warning, like the official option");
  command.add_flag("--details", options.details,
                   "Print details of every entry (default: up to three entries)");
  command.add_option("--csv", options.csv, "Write the table of systems as CSV to this file")
      ->type_name("FILE");
  add_page_options(command, options.pages);
  command.add_flag("--json", options.json, "Print JSON (schemas/report_mlperf_score.json)");
}

}  // namespace

void add_mlperf_score(CLI::App& mlperf, CommandResult& result) {
  CLI::App* command = mlperf.add_subcommand(
      "score", "Score results: olympic mean, convergence test and scaling factor");
  auto options = std::make_shared<ScoreOptions>();
  describe_score(*command, *options);
  command->callback([options, &result] {
    const auto score =
        mlperf::score_submission(mlperf::find_submission(options->path), options->settings);
    show([&] { return to_document(score, options->details); }, [&] { return to_json(score); },
         options->json, options->pages);
    if (!options->csv.empty()) write_file(options->csv, to_csv(score));
    result.code = score.exit_code;
  });
}

}  // namespace bench
