#include "runner/mlperf/published_options.h"

namespace bench {

mlperf::SubmissionScoreSettings PublishedOptions::settings() const {
  mlperf::SubmissionScoreSettings settings;
  settings.ruleset = ruleset;
  if (!rcp_dir.empty()) settings.rcp_dir = rcp_dir;
  return settings;
}

std::vector<mlperf::PublishedEntry> PublishedOptions::entries_of(const std::string& path) const {
  return mlperf::chosen_entries(mlperf::read_published(path, settings()), choice);
}

std::vector<mlperf::PublishedEntry> PublishedOptions::entries() const {
  std::vector<mlperf::PublishedEntry> all;
  for (const std::string& path : paths)
    for (mlperf::PublishedEntry& entry : mlperf::read_published(path, settings()))
      all.push_back(std::move(entry));
  return mlperf::chosen_entries(std::move(all), choice);
}

void add_round_options(CLI::App& command, std::string& ruleset, std::string& rcp_dir) {
  command
      .add_option("--ruleset", ruleset,
                  "Round whose rules and reference points count, such as 5.1.0; auto: by what the "
                  "log says (default: auto)")
      ->type_name("V");
  command
      .add_option("--rcp-dir", rcp_dir,
                  "Published reference convergence points (rcps_BENCHMARK.json) in place of ours")
      ->type_name("DIR");
}

void add_published_options(CLI::App& command, PublishedOptions& options, int most) {
  command
      .add_option("path", options.paths,
                  "Rounds, organisations, systems or benchmarks' folders with result_*.txt")
      ->required()
      ->expected(1, most)
      ->type_name("PATH");
  add_repeated(command, "--benchmark", options.choice.benchmarks,
               "Only this benchmark; may be repeated (default: all)")
      ->type_name("NAME");
  command
      .add_option(
          "--where", options.choice.words,
          "Only where all these words stand in submitter, system, accelerator, processor or "
          "framework: --where 'nvidia gb300' (default: all)")
      ->type_name("WORDS");
  add_round_options(command, options.ruleset, options.rcp_dir);
}

}  // namespace bench
