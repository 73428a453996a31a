#include "runner/commands/mlperf/mlperf_command.h"

namespace bench {

std::vector<mlperf::PublishedEntry> PublishedOptions::entries_of(const std::string& path) const {
  return mlperf::chosen_entries(mlperf::read_published(path, settings), choice);
}

std::vector<mlperf::PublishedEntry> PublishedOptions::entries() const {
  std::vector<mlperf::PublishedEntry> all;
  for (const std::string& path : paths)
    for (mlperf::PublishedEntry& entry : mlperf::read_published(path, settings))
      all.push_back(std::move(entry));
  return mlperf::chosen_entries(std::move(all), choice);
}

void add_round_options(CLI::App& command, mlperf::SubmissionScoreSettings& settings) {
  command
      .add_option("--ruleset", settings.ruleset,
                  "Use the rules and reference points of this round, such as 5.1.0; auto "
                  "chooses by the log (default: auto)")
      ->type_name("V");
  command
      .add_option("--rcp-dir", settings.rcp_dir,
                  "Read reference convergence points (rcps_BENCHMARK.json) from this folder")
      ->type_name("DIR");
}

void add_published_options(CLI::App& command, PublishedOptions& options, int most) {
  command
      .add_option("path", options.paths,
                  "Read these folders: rounds, organisations, systems or benchmarks")
      ->required()
      ->expected(1, most)
      ->type_name("PATH");
  add_repeated(command, "--benchmark", options.choice.benchmarks,
               "Select this benchmark; may be repeated (default: all)")
      ->type_name("NAME");
  command
      .add_option(
          "--where", options.choice.words,
          "Select by words in submitter, system and hardware: 'nvidia gb300' (default: all)")
      ->type_name("WORDS");
  add_round_options(command, options.settings);
}

void add_mlperf(CLI::App& app, CommandResult& result) {
  CLI::App* mlperf =
      app.add_subcommand("mlperf", "Read, check, score, compare and package MLPerf Training logs");
  mlperf->require_subcommand(1);
  add_mlperf_check(*mlperf, result);
  add_mlperf_score(*mlperf, result);
  add_mlperf_scaling(*mlperf, result);
  add_mlperf_compare(*mlperf, result);
  add_mlperf_package(*mlperf, result);
  add_mlperf_rules(*mlperf, result);
  add_mlperf_explain(*mlperf, result);
  add_mlperf_storage(*mlperf, result);
}

}  // namespace bench
