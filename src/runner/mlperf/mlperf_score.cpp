// benchctl mlperf score PATH: what MLPerf Training logs score, and why.
#include "results/mlperf/score/submission_score.h"
#include "results/text_file.h"
#include "runner/commands/report_output.h"
#include "runner/mlperf/mlperf_command.h"

namespace bench {
namespace {

struct ScoreOptions {
  std::filesystem::path path;
  mlperf::SubmissionScoreSettings settings;
  std::string rcp_dir, csv, html;
  bool details = false, json = false;
};

void describe_score(CLI::App& command, ScoreOptions& options) {
  command.footer(
      "Example: benchctl mlperf score submission --html scores.html\n"
      "Takes a round, an organisation, a system, a benchmark's folder or logs; nothing is written "
      "there.\n"
      "More runs than the benchmark takes: those in a row with the median score count.\n"
      "Exit codes: 0 each entry has a score; 1 one has none; 2 there is no log; 3 a benchmark is "
      "not known.");
  command.add_option("path", options.path, "What to score")->required()->type_name("PATH");
  command
      .add_option("--ruleset", options.settings.ruleset,
                  "Round whose rules and reference points count, such as 5.1.0; auto: by what the "
                  "log says (default: auto)")
      ->type_name("V");
  command
      .add_option("--rcp-dir", options.rcp_dir,
                  "Published reference convergence points (rcps_BENCHMARK.json) in place of ours")
      ->type_name("DIR");
  command
      .add_option("--batch", options.settings.batches,
                  "Say what these runs would be at another global batch size; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command.add_flag("--rcp-bypass", options.settings.rcp_bypass,
                   "A failed convergence test is a warning, as for the official checker's option");
  command.add_flag("--details", options.details,
                   "All of every entry, also of many (default: of up to three)");
  command.add_option("--csv", options.csv, "Write the table of systems there")->type_name("FILE");
  command.add_option("--html", options.html, "Write the report as a page there")->type_name("FILE");
  command.add_flag("--json", options.json, "Print JSON (schemas/report_mlperf_score.json)");
}

}  // namespace

void add_mlperf_score(CLI::App& mlperf, CommandResult& result) {
  CLI::App* command =
      mlperf.add_subcommand("score", "Runs, olympic mean, convergence test, factor and score");
  auto options = std::make_shared<ScoreOptions>();
  describe_score(*command, *options);
  command->callback([options, &result] {
    if (!options->rcp_dir.empty()) options->settings.rcp_dir = options->rcp_dir;
    const auto score =
        mlperf::score_submission(mlperf::find_submission(options->path), options->settings);
    if (options->json)
      print(to_json(score));
    else
      print(to_text(score, options->details, style_of_stdout()));
    if (!options->csv.empty()) write_file(options->csv, to_csv(score));
    if (!options->html.empty()) write_file(options->html, to_html(score));
    result.code = score.exit_code;
  });
}

}  // namespace bench
