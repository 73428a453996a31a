// benchctl mlperf check PATH: official and strict checks of logs.
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
              "unknown format '" + printable(options.format) + "'." +
                  did_you_mean(options.format, kCheckFormats),
              "use one of: " + join(kCheckFormats, ", "));
}

std::filesystem::path rule_sets_of(const CheckCommand& options) {
  return options.rule_sets.empty() ? mlperf::rule_set_folder()
                                   : std::filesystem::path(options.rule_sets);
}

ExitCode follow(const CheckCommand& options) {
  if (options.format != "json" && options.format != "text")
    throw Error(ErrorKind::usage, "--follow does not support the format '" + options.format + "'",
                "use text, or --json for one JSON object per line");
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
      "Check logs against the official rules and stricter ones");
  command->footer(
      "Example: benchctl mlperf check results/ --format sarif -o mlperf.sarif\n"
          "PATH is a log, or the folder of a benchmark (result_*.txt), a system, an organisation or a round.\n"
          "Exit codes: 0 every log passes the official check and no strict check "
          "found an error; 1 at least one failed; 2 no logs.");
  auto options = std::make_shared<CheckCommand>();
  command->add_option("path", options->path, "Check this log, or all logs below this folder")
      ->required()
      ->type_name("PATH");
  CLI::Option* compat = command->add_flag(
      "--compat", options->compat, "Run only the official check");
  command
      ->add_flag("--strict", options->strict,
                 "Run the strict checks too, reported separately (default)")
      ->excludes(compat);
  command
      ->add_option("--ruleset", options->rule_set,
                   "Use this version, such as 5.1.0; auto chooses by benchmark and date "
          "(default: auto)")
      ->type_name("VERSION");
  command
      ->add_option("--ruleset-dir", options->rule_sets,
                   "Read rule sets from this folder (default: the bundled ones)")
      ->type_name("DIR");
  command->add_flag("--werror", options->warnings_are_errors,
                    "Treat the official checker's warnings as errors");
  command->add_flag("--all", options->all,
                    "Print findings shared by several logs of a folder for each log");
  CLI::Option* follow =
      command
          ->add_flag("--follow", options->follow,
                     "Follow the log of a running training until it stops, or Ctrl-C")
          ->excludes(compat);
  command->add_flag("--json", options->json, "Print JSON, same as --format json");
  command->add_option("--format", options->format, "Choose the output format: " + join(kCheckFormats, ", ") + " (default: text)")
      ->type_name("FORMAT");
  command
      ->add_option("-o,--output", options->output,
                   "Write to this file, replaced atomically (default: stdout)")
      ->excludes(follow)
      ->type_name("FILE");
  command->callback([options, &result] { result.code = check_logs(*options); });
}

}  // namespace bench
