// benchctl mlperf check PATH: the official verdict on logs, and what the official checker misses.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/text.h"
#include "core/whole_file.h"
#include "results/mlperf/check/check.h"
#include "results/mlperf/rules/rule_set.h"
#include "results/mlperf/submission/submission.h"
#include "runner/mlperf/mlperf_command.h"
#include "runner/mlperf/mlperf_follow.h"

namespace bench {
namespace {

const std::vector<std::string> kCheckFormats = {"text", "json", "junit", "sarif"};

struct CheckCommand {
  std::string path, format = "text", output, rule_set = "auto", rule_sets;
  bool json = false, all = false, compat = false, strict = false, warnings_are_errors = false,
       follow = false;
};

std::string document(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string rendered(const mlperf::CheckReport& report, const CheckCommand& options) {
  if (options.format == "json") return document(to_json(report));
  if (options.format == "junit") return to_junit(report);
  if (options.format == "sarif") return document(to_sarif(report));
  return to_text(report, options.all);
}

void check_format(const CheckCommand& options) {
  if (std::ranges::find(kCheckFormats, options.format) != kCheckFormats.end()) return;
  throw Error(ErrorKind::usage,
              "there is no format '" + printable(options.format) + "'." +
                  did_you_mean(options.format, kCheckFormats),
              "formats: " + join(kCheckFormats, ", "));
}

std::filesystem::path rule_sets_of(const CheckCommand& options) {
  return options.rule_sets.empty() ? mlperf::rule_set_folder()
                                   : std::filesystem::path(options.rule_sets);
}

ExitCode follow(const CheckCommand& options) {
  if (options.format != "json" && options.format != "text")
    throw Error(ErrorKind::usage, "--follow has no format '" + options.format + "'",
                "it tells text, or with --json an object a line");
  return follow_run({.path = options.path,
                     .rule_sets = rule_sets_of(options),
                     .rule_set = options.rule_set,
                     .warnings_are_errors = options.warnings_are_errors,
                     .json = options.format == "json"});
}

ExitCode check_logs(CheckCommand options) {
  if (options.json) options.format = "json";
  check_format(options);
  if (options.follow) return follow(options);
  const mlperf::CheckReport report = check_submission(
      mlperf::find_submission(options.path), {.rule_sets = rule_sets_of(options),
                                              .rule_set = options.rule_set,
                                              .strict = !options.compat,
                                              .warnings_are_errors = options.warnings_are_errors});
  const std::string text = rendered(report, options);
  if (options.output.empty())
    print(text);
  else
    replace_file(options.output, text);
  return passed(report) ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_mlperf_check(CLI::App& mlperf, CommandResult& result) {
  CLI::App* command = mlperf.add_subcommand(
      "check",
      "The official verdict on logs, each fault at its line, and what the official "
      "checker misses");
  command->footer(
      "Example: benchctl mlperf check results/ --format sarif -o mlperf.sarif\n"
      "PATH is a log, a folder of a benchmark (result_*.txt), of a system, of an organisation, or "
      "a "
      "round.\n"
      "Exit codes: 0 every log passes officially and no strict check found an error; 1 one does "
      "not; 2 there is no log.");
  auto options = std::make_shared<CheckCommand>();
  command->add_option("path", options->path, "A log, or a folder with logs below it")
      ->required()
      ->type_name("PATH");
  CLI::Option* compat = command->add_flag(
      "--compat", options->compat, "Only the official verdict, as MLPerf's checker gives it");
  command
      ->add_flag("--strict", options->strict,
                 "Also what the official checker misses, shown apart (default)")
      ->excludes(compat);
  command
      ->add_option("--ruleset", options->rule_set,
                   "auto (by each log's benchmark and date, and says why) or a version such as "
                   "5.1.0 (default: auto)")
      ->type_name("VERSION");
  command
      ->add_option("--ruleset-dir", options->rule_sets,
                   "A folder with rule sets of another origin (default: those that come along)")
      ->type_name("DIR");
  command->add_flag("--werror", options->warnings_are_errors,
                    "The official checker's warnings fail a log, as its --werror does");
  command->add_flag("--all", options->all,
                    "Tell a finding that several logs of a folder share for each of them");
  CLI::Option* follow =
      command
          ->add_flag("--follow", options->follow,
                     "Read a log while a run writes it: time left to initialise, distance to the "
                     "target, when it will be there; ends with the run, or ^C")
          ->excludes(compat);
  command->add_flag("--json", options->json, "JSON on stdout, as --format json");
  command->add_option("--format", options->format, join(kCheckFormats, ", ") + " (default: text)")
      ->type_name("FORMAT");
  command
      ->add_option("-o,--output", options->output,
                   "A file to replace, whole or not at all (default: stdout)")
      ->excludes(follow)
      ->type_name("FILE");
  command->callback([options, &result] { result.code = check_logs(*options); });
}

}  // namespace bench
