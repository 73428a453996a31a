#include "runner/commands/nightly_options.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/locations.h"
#include "runner/plan/suite.h"

namespace bench {
namespace {

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).string(); }

/// An absolute path for a file; a suite name unchanged.
std::string suite_argument(const std::string& suite) {
  return is_installed_suite(suite) || !is_path(suite) ? suite : absolute(suite);
}

}  // namespace

void add_night_options(CLI::App& command, NightOptions& options) {
  add_value(command, "--hosts", options.hosts, "FILE",
            "Check the hosts in this hosts file (default: nodes of the current Slurm "
            "allocation, else this host)");
  add_value(command, "--budget", options.budget, "TIME",
            "Limit the total time, e.g. 30m, 1h30m, 45s (default: 30m; with --prolog 20s)");
  add_value(command, "--suite", options.suite, "SUITE",
            "Run this suite: a name, ./FILE or FILE.json (default: nightly)");
  add_repeated(command, "--only", options.changes.only, "Run only this case; may be repeated")
      ->type_name("CASE");
  add_repeated(command, "--hook", options.hooks,
               "Call this program for each finding, with its JSON on stdin; may be repeated")
      ->type_name("PROGRAM");
  add_repeated(
      command, "--threshold", options.thresholds,
      "Set the loss that counts as a regression, e.g. gemm.throughput=0.04; may be repeated")
      ->type_name("METRIC=SHARE");
  add_value(command, "--reruns", options.reruns, "N",
            "Rerun each suspect, and a peer for comparison, this many times (default: 3)")
      ->check(CLI::Range(2, 100));
  add_value(command, "--unchecked-days", options.unchecked_days, "DAYS",
            "Report hosts not measured for longer than this as findings (default: 7)")
      ->check(CLI::Range(0.0, 3650.0));
  add_value(command, "--faults", options.faults, "FILE",
            "Read fault rates and costs from this file (default: hosts/faults/faults.json)");
  add_page_options(command, options.pages);
  add_value(command, "--junit", options.junit, "FILE", "Write a JUnit XML report to this file");
  add_value(command, "--prometheus", options.prometheus, "FILE",
            "Write gauges for node_exporter's textfile collector to this file");
  command.add_flag("--all", options.all,
                   "Run the suite in order until the time is up (default: choose cases that find "
                   "the most faults per second)");
}

std::vector<std::string> night_command(const NightOptions& options) {
  std::vector<std::string> words = {(program_folder() / "benchctl").string(), "nightly"};
  const auto add = [&](const std::string& option, const std::string& value) {
    words.push_back(option + "=" + value);
  };
  if (!options.hosts.empty()) add("--hosts", absolute(options.hosts));
  if (!options.budget.empty()) add("--budget", options.budget);
  if (options.suite != "nightly") add("--suite", suite_argument(options.suite));
  for (const std::string& one : options.changes.only) add("--only", one);
  for (const std::string& hook : options.hooks)
    add("--hook", hook.find('/') == std::string::npos ? hook : absolute(hook));
  for (const std::string& threshold : options.thresholds) add("--threshold", threshold);
  if (options.reruns != 3) add("--reruns", std::to_string(options.reruns));
  if (options.unchecked_days != 7.0)
    add("--unchecked-days", fmt::format("{}", options.unchecked_days));
  if (!options.faults.empty()) add("--faults", absolute(options.faults));
  if (!options.pages.html.empty()) add("--html", absolute(options.pages.html));
  if (!options.pages.markdown.empty()) add("--markdown", absolute(options.pages.markdown));
  if (!options.junit.empty()) add("--junit", absolute(options.junit));
  if (!options.prometheus.empty()) add("--prometheus", absolute(options.prometheus));
  if (options.pages.verbose) words.push_back("--verbose");
  if (options.all) words.push_back("--all");
  if (options.launcher != "auto") add("--launcher", options.launcher);
  if (options.parallel > 0) add("--parallel", std::to_string(options.parallel));
  if (!options.stage.empty()) add("--stage", absolute(options.stage));
  if (!options.rank_program.empty()) add("--rank-program", absolute(options.rank_program));
  add("--db", absolute(options.database()));
  return words;
}

}  // namespace bench
