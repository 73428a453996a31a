#include "runner/commands/nightly_options.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/locations.h"

namespace bench {
namespace {

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).string(); }

/// A file by its place, a name as it is.
std::string suite_word(const std::string& suite) {
  std::error_code none;
  return std::filesystem::exists(suite, none) ? absolute(suite) : suite;
}

}  // namespace

void add_night_options(CLI::App& command, NightOptions& options) {
  command
      .add_option("--hosts", options.hosts,
                  "Hosts file (default: the nodes of the Slurm allocation we are in, else this "
                  "host)")
      ->type_name("FILE");
  command
      .add_option("--budget", options.budget,
                  "Time for all of it: 30m, 1h30m, 45s (default: 30m; with --prolog 20s)")
      ->type_name("TIME");
  command.add_option("--suite", options.suite, "Another suite, by name or file (default: nightly)")
      ->type_name("SUITE");
  add_repeated(command, "--only", options.changes.only, "Only this case; may be repeated")
      ->type_name("CASE");
  add_repeated(command, "--hook", options.hooks,
               "A program that is called for each finding, its JSON on standard input; may be "
               "repeated")
      ->type_name("PROGRAM");
  add_repeated(command, "--threshold", options.thresholds,
               "The loss that matters, e.g. gemm.throughput=0.04; may be repeated")
      ->type_name("METRIC=SHARE");
  command
      .add_option("--reruns", options.reruns,
                  "How often a suspect is run again at once, and its peer beside it (default: 3)")
      ->type_name("N")
      ->check(CLI::Range(2, 100));
  command
      .add_option("--unchecked-days", options.unchecked_days,
                  "A host of which nothing was measured for longer is a finding (default: 7)")
      ->type_name("DAYS")
      ->check(CLI::Range(0.0, 3650.0));
  command
      .add_option("--faults", options.faults,
                  "What is assumed of faults (default: hosts/faults/faults.json)")
      ->type_name("FILE");
  command.add_option("--html", options.html, "Write the night there as one page")
      ->type_name("FILE");
  command.add_option("--junit", options.junit, "Write the night there as JUnit XML")
      ->type_name("FILE");
  command
      .add_option("--prometheus", options.prometheus,
                  "Replace this file with the night's gauges, for the textfile collector")
      ->type_name("FILE");
  command.add_flag("--all", options.all,
                   "The whole suite in its order, as far as the time goes (default: what finds "
                   "most per second)");
}

std::vector<std::string> night_words(const NightOptions& options) {
  std::vector<std::string> words = {(program_folder() / "benchctl").string(), "nightly"};
  const auto add = [&](const std::string& option, const std::string& value) {
    words.push_back(option + "=" + value);
  };
  if (!options.hosts.empty()) add("--hosts", absolute(options.hosts));
  if (!options.budget.empty()) add("--budget", options.budget);
  if (options.suite != "nightly") add("--suite", suite_word(options.suite));
  for (const std::string& one : options.changes.only) add("--only", one);
  for (const std::string& hook : options.hooks)
    add("--hook", hook.find('/') == std::string::npos ? hook : absolute(hook));
  for (const std::string& threshold : options.thresholds) add("--threshold", threshold);
  if (options.reruns != 3) add("--reruns", std::to_string(options.reruns));
  if (options.unchecked_days != 7.0)
    add("--unchecked-days", fmt::format("{}", options.unchecked_days));
  if (!options.faults.empty()) add("--faults", absolute(options.faults));
  if (!options.html.empty()) add("--html", absolute(options.html));
  if (!options.junit.empty()) add("--junit", absolute(options.junit));
  if (!options.prometheus.empty()) add("--prometheus", absolute(options.prometheus));
  if (options.all) words.push_back("--all");
  if (options.launcher != "auto") add("--launcher", options.launcher);
  if (options.parallel > 0) add("--parallel", std::to_string(options.parallel));
  if (!options.stage.empty()) add("--stage", absolute(options.stage));
  if (!options.rank_program.empty()) add("--rank-program", absolute(options.rank_program));
  add("--db", absolute(options.database()));
  return words;
}

}  // namespace bench
