// benchctl mlperf check PATH: official and strict checks of logs.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "core/whole_file.h"
#include "mlperf/check/check.h"
#include "mlperf/follow/follow_log.h"
#include "mlperf/rules/official_check.h"
#include "mlperf/rules/rule_set.h"
#include "mlperf/rules/rule_set_choice.h"
#include "mlperf/score/submission_score.h"
#include "mlperf/submission/submission.h"
#include "results/output/document/terminal.h"
#include "results/output/document/text_style.h"
#include "results/output/mlperf/check_output.h"
#include "results/output/mlperf/progress_output.h"
#include "results/output/mlperf/score_output.h"
#include "runner/commands/command.h"
#include "runner/commands/mlperf/mlperf_command.h"
#include "runner/commands/report_output.h"
#include "runner/commands/report_pages.h"
#include "runner/launch/interrupts.h"

namespace bench {
namespace {

struct CheckCommand {
  std::string path, format = "text", output, rule_set = "auto", rule_sets, prometheus;
  bool json = false, all = false, compat = false, strict = false, warnings_are_errors = false,
       follow = false, score = false;
  PageOptions pages;
};

std::filesystem::path rule_sets_of(const CheckCommand& options) {
  return options.rule_sets.empty() ? mlperf::rule_set_folder()
                                   : std::filesystem::path(options.rule_sets);
}

// --follow: follow the log of a running training.

constexpr int kPoll_ms = 1000;

/// The rules and reference points for a log.
class Rules {
 public:
  explicit Rules(const CheckCommand& options)
      : sets_(options.rule_set == "auto"
                  ? mlperf::load_rule_sets(rule_sets_of(options))
                  : std::vector{mlperf::load_rule_set(rule_sets_of(options), options.rule_set)}) {}

  const mlperf::RuleSet& of(const mlperf::Log& log) const {
    if (sets_.size() == 1) return sets_.front();
    const std::string version = choose_rule_set(log, sets_).version;
    return *std::ranges::find(sets_, version, &mlperf::RuleSet::version);
  }

  mlperf::RunGoal goal(const mlperf::Log& log) {
    const mlperf::RuleSet& rules = of(log);
    return goal_of(mlperf::facts_of(log), rules, points_.of(rules.version));
  }

 private:
  std::vector<mlperf::RuleSet> sets_;
  mlperf::BundledRcps points_;
};

double now_ms() { return static_cast<double>(now_ns()) / 1e6; }

/// A line for each change, and on a terminal a last one that is redrawn. Gauges every five seconds,
/// for as long as the log is followed.
class FollowView {
 public:
  explicit FollowView(const CheckCommand& options)
      : options_(options), live_(!options.json && isatty(STDOUT_FILENO) != 0) {}

  void show(const mlperf::ProgressReport& report, bool changed) {
    clear();
    if (changed)
      print(
          (options_.json ? dump(to_json(report)) : format_time(now_ns()) + " " + to_text(report)) +
          "\n");
    if (live_ && report.phase != mlperf::RunPhase::stopped) draw(to_line(report));
    if (options_.prometheus.empty() || (!changed && now_ms() < gauges_due_ms_)) return;
    gauges_due_ms_ = now_ms() + 5000.0;
    write_gauges(to_prometheus(report, options_.path));
  }

  /// The training goes on, but nobody watches it any longer.
  void abandon() {
    clear();
    std::error_code ignored;
    if (!options_.prometheus.empty()) std::filesystem::remove(options_.prometheus, ignored);
  }

 private:
  void draw(const std::string& line) {
    constexpr std::size_t kUsual = 80;
    const std::size_t columns = terminal_columns(STDOUT_FILENO);
    print(line.substr(0, (columns > 1 ? columns : kUsual) - 1));
    drawn_ = true;
  }
  void clear() {
    if (std::exchange(drawn_, false)) print(std::string("\r\033[K"));
  }
  /// A full disk is no reason to stop following; said once.
  void write_gauges(const std::string& text) try {
    replace_file(options_.prometheus, text);
    gauges_failed_ = false;
  } catch (const Error& error) {
    if (!std::exchange(gauges_failed_, true)) say(Level::warning, "no gauges: " + error.text());
  }

  const CheckCommand& options_;
  bool live_, drawn_ = false, gauges_failed_ = false;
  double gauges_due_ms_ = 0.0;
};

ExitCode verdict_on(const CheckCommand& options, const Rules& rules) {
  const mlperf::Log log = mlperf::read_log(options.path);
  const mlperf::RuleSet& set = rules.of(log);
  const mlperf::OfficialVerdict verdict = official_check(log, set, options.warnings_are_errors);
  const bool pass = verdict.pass && !verdict.crash;
  if (options.json)
    print(dump({{"phase", "judged"},
                {"rule_set", set.version},
                {"official", pass ? "pass" : "fail"},
                {"findings", verdict.findings.size()}}) +
          "\n");
  else
    print(fmt::format(
        "official verdict by rule set {}: {}\n", set.version,
        pass ? "pass"
             : fmt::format("fail, {} findings; list them with: benchctl mlperf check {}",
                           verdict.findings.size(), printable(options.path))));
  return pass ? ExitCode::ok : ExitCode::failed;
}

/// Prints each change until the run stops, then the official verdict on the whole log: ok or
/// failed; interrupted after Ctrl-C.
ExitCode follow_run(const CheckCommand& options) {
  Rules rules(options);
  const Interrupts interrupts;
  FollowView view(options);
  mlperf::FollowCallbacks callbacks;
  callbacks.goal = [&](const mlperf::Log& log) { return rules.goal(log); };
  callbacks.report = [&](const mlperf::ProgressReport& report, bool changed) {
    view.show(report, changed);
  };
  callbacks.now_ms = now_ms;
  callbacks.wait = [&] {
    pollfd signal{.fd = interrupts.fd(), .events = POLLIN, .revents = 0};
    ::poll(&signal, 1, kPoll_ms);
    return interrupts.count() == 0;
  };
  if (!follow_log(options.path, callbacks)) {
    view.abandon();
    return ExitCode::interrupted;
  }
  return verdict_on(options, rules);
}

const std::vector<std::string> kCheckFormats = {"text", "json", "junit", "sarif"};

std::string dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The verdicts on logs, and with --score their scores.
struct Checked {
  mlperf::CheckReport report;
  std::optional<mlperf::SubmissionScore> score;

  /// The scores say first what is missing if nothing is wrong with the logs.
  Document document(bool all) const {
    Document both = to_document(report, all);
    if (!score) return both;
    const bool banner_of_score = passed(report) && score->exit_code != ExitCode::ok;
    both.add(Heading{"Scores"});
    for (Document::Part& part : to_document(*score, false).parts) {
      const bool banner = std::holds_alternative<Headline>(part.block);
      if (banner && banner_of_score) both.parts.insert(both.parts.begin(), part);
      if (!banner) both.parts.push_back(std::move(part));
    }
    return both;
  }
  Json json() const {
    Json both = to_json(report);
    if (!score) return both;
    both["score"] = to_json(*score);
    if (exit_code() != ExitCode::ok) both["verdict"] = "fail";
    return both;
  }
  ExitCode exit_code() const {
    if (!passed(report)) return ExitCode::failed;
    return score ? score->exit_code : ExitCode::ok;
  }
};

Checked checked(const CheckCommand& options) {
  const mlperf::Submission submission = mlperf::find_submission(options.path);
  std::vector<mlperf::ReadRun> runs;
  Checked found;
  found.report = check_submission(submission,
                                  {.rule_sets = rule_sets_of(options),
                                   .rule_set = options.rule_set,
                                   .strict = !options.compat,
                                   .warnings_are_errors = options.warnings_are_errors},
                                  options.score ? &runs : nullptr);
  if (!options.score) return found;
  mlperf::SubmissionScoreSettings settings;
  settings.ruleset = options.rule_set;
  found.score = score_runs(submission, std::move(runs), settings);
  return found;
}

std::string rendered(const Checked& found, const CheckCommand& options) {
  if (options.format == "json") return dumped(found.json());
  if (options.format == "junit") return to_junit(found.report);
  if (options.format == "sarif") return dumped(to_sarif(found.report));
  return to_terminal(found.document(options.all),
                     options.output.empty() ? style_of_stdout(options.pages.verbose) : TextStyle{});
}

void check_format(const CheckCommand& options) {
  if (options.score && (options.format == "junit" || options.format == "sarif"))
    throw Error(ErrorKind::usage, "--score does not support the format '" + options.format + "'",
                "use text or json, or `benchctl mlperf score`");
  if (std::ranges::find(kCheckFormats, options.format) != kCheckFormats.end()) return;
  throw Error(ErrorKind::usage,
              "unknown format '" + printable(options.format) + "'." +
                  did_you_mean(options.format, kCheckFormats),
              "use one of: " + join(kCheckFormats, ", "));
}

ExitCode follow(const CheckCommand& options) {
  if (options.format != "json" && options.format != "text")
    throw Error(ErrorKind::usage, "--follow does not support the format '" + options.format + "'",
                "use text, or --json for one JSON object per line");
  if (!options.pages.html.empty() || !options.pages.markdown.empty())
    throw Error(ErrorKind::usage, "--follow writes no pages",
                "check the log with --html or --markdown after the run");
  return follow_run(options);
}

ExitCode check_logs(CheckCommand options) {
  if (options.json) options.format = "json";
  options.json = options.format == "json";
  check_format(options);
  if (options.follow) return follow(options);
  const Checked found = checked(options);
  if (options.pages.any()) write_pages(found.document(options.all), options.pages);
  const std::string text = rendered(found, options);
  if (options.output.empty())
    print(text);
  else
    replace_file(options.output, text);
  return found.exit_code();
}

}  // namespace

void add_mlperf_check(CLI::App& mlperf, CommandResult& result) {
  CLI::App* command =
      mlperf.add_subcommand("check", "Check logs against the official rules and stricter ones");
  command->footer(
      "Examples: benchctl mlperf check results/ --score\n"
      "          benchctl mlperf check results/ --format sarif -o mlperf.sarif\n"
      "PATH is a log, or the folder of a benchmark (result_*.txt), a system, an organisation or a "
      "round.\n"
      "Exit codes: 0 every log passes the official check, no strict check found an error, and with "
      "--score every entry has a score; 1 at least one failed; 2 no logs; 3 the logs pass, but it "
      "is "
      "unknown how many runs a benchmark requires.");
  auto options = std::make_shared<CheckCommand>();
  command->add_option("path", options->path, "Check this log, or all logs below this folder")
      ->required()
      ->type_name("PATH");
  CLI::Option* compat =
      command->add_flag("--compat", options->compat, "Run only the official check");
  command
      ->add_flag("--strict", options->strict,
                 "Run the strict checks too, reported separately (default)")
      ->excludes(compat);
  command
      ->add_option("--ruleset", options->rule_set,
                   "Use this version, such as 5.1.0; auto chooses by benchmark and date "
                   "(default: auto)")
      ->type_name("VERSION");
  CLI::Option* rule_sets =
      command
          ->add_option("--ruleset-dir", options->rule_sets,
                       "Read rule sets from this folder (default: the bundled ones)")
          ->type_name("DIR");
  CLI::Option* score =
      command
          ->add_flag(
              "--score", options->score,
              "Print the scores too, as `benchctl mlperf score` does, in one pass over the logs")
          ->excludes(rule_sets);
  command->add_flag("--werror", options->warnings_are_errors,
                    "Treat the official checker's warnings as errors");
  command->add_flag("--all", options->all,
                    "Print findings shared by several logs of a folder for each log");
  CLI::Option* follow =
      command
          ->add_flag("--follow", options->follow,
                     "Follow the log of a running training until it stops, or Ctrl-C")
          ->excludes(compat)
          ->excludes(score);
  command
      ->add_option(
          "--prometheus", options->prometheus,
          "With --follow: keep gauges in this file, for node_exporter's textfile collector")
      ->needs(follow)
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON, same as --format json");
  command
      ->add_option("--format", options->format,
                   "Choose the output format: " + join(kCheckFormats, ", ") + " (default: text)")
      ->type_name("FORMAT");
  command
      ->add_option("-o,--output", options->output,
                   "Write to this file, replaced atomically (default: stdout)")
      ->excludes(follow)
      ->type_name("FILE");
  add_page_options(*command, options->pages);
  command->callback([options, &result] { result.code = check_logs(*options); });
}

}  // namespace bench
