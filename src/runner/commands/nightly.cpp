// benchctl nightly: finds regressions on hosts within a time budget.
#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "results/output/verdicts/night_output.h"
#include "results/store/journal.h"
#include "results/verdicts/nightly/night.h"
#include "runner/acceptance/accept_runs.h"
#include "runner/commands/nightly_options.h"
#include "runner/hosts/slurm_nodes.h"
#include "runner/launch/program_output.h"
#include "runner/nightly/install_text.h"
#include "runner/nightly/night_past.h"
#include "runner/nightly/night_plan.h"
#include "runner/nightly/night_runs.h"
#include "runner/nightly/time_text.h"

namespace bench {
namespace {

constexpr double kPrologLimit_s = 30.0;  // Slurm kills a prolog after PrologEpilogTimeout at best
constexpr const char* kPrologBudget = "20s";

void write_outputs(const NightOptions& options, const Night& night) {
  if (!options.junit.empty()) write_file(options.junit, to_junit(night));
  if (!options.prometheus.empty()) replace_file(options.prometheus, to_prometheus(night));
}

ExitCode night(const NightOptions& options) {
  const auto database = options.database();
  NightRequest request;
  request.budget_s =
      seconds_from(options.budget.empty() ? "30m" : options.budget, "--budget").value;
  request.database = database;
  request.faults = read_faults(options.faults);
  // A prolog has no time for it, and judges only what it measures.
  if (!options.measured_only) check_integrity(database);
  PlannedRun planned = plan_from(options, database);
  request.rule.suspicion.thresholds = thresholds_from(options.thresholds, planned.catalogue);
  request.run = run_request(options, std::move(planned.plan), database);
  if (planned.site.kind == LauncherKind::slurm && !planned.site.allocation) {
    request.busy = busy_slurm_nodes(program_output(kShowNodes, kSlurmAnswers));
    skip_busy(request.run.plan, request.busy);
    request.resume = resume_command(options, database);
  }
  request.reruns = options.reruns;
  request.unchecked_days = options.unchecked_days;
  request.hooks = options.hooks;
  request.choose = !options.all;
  request.measured_only = options.measured_only;
  const Night done = run_night(request, planned.catalogue, planned.site);
  write_outputs(options, done);
  show([&] { return to_document(done); }, [&] { return to_json(done); }, options.json,
       options.pages);
  return exit_code_of(done);
}

/// A failure before the child starts must not drain the node either.
ExitCode prolog(NightOptions options) {
  if (options.budget.empty()) options.budget = kPrologBudget;
  std::vector<std::string> words = night_command(options);
  words.push_back("--measured-only");
  if (options.json) words.push_back("--json");
  const PrologAnswer answer = run_prolog(words, Seconds{kPrologLimit_s});
  print(answer.out);
  if (!answer.err.empty()) say(Level::info, answer.err);
  if (!answer.why.empty())
    say(Level::warning,
        "node not checked, so it stays in service: the check " + printable(answer.why));
  return answer.code;
}

}  // namespace

void add_nightly(CLI::App& app, CommandResult& result) {
  CLI::App* command =
      app.add_subcommand("nightly", "Check hosts for regressions within a time budget");
  command->footer(
      "Example: benchctl nightly --hosts hosts.json --budget 30m\n"
      "Exit codes: 0 no regression; 1 a confirmed finding; 3 an unconfirmed finding, a host "
      "unchecked for too long, or nothing measured; 4 another nightly run is active, or an "
      "environment problem.");
  auto options = std::make_shared<NightOptions>();
  add_night_options(*command, *options);
  command->add_flag(
      "--prolog", options->prolog,
      "Run as a Slurm prolog: at most 30 s; exit code 1 for a confirmed finding, otherwise 0");
  command->add_flag("--measured-only", options->measured_only,
                    "Ignore jobs that cannot run")
      ->group("");  // for the child of --prolog
  add_dispatch_options(*command, *options);
  add_reading_options(*command, *options);
  add_nightly_install(*command);
  add_nightly_pick(*command, result);
  add_nightly_prune(*command, result);
  command->require_subcommand(0, 1);
  command->callback([command, options, &result] {
    if (command->get_subcommands().empty())
      result.code = options->prolog ? prolog(*options) : night(*options);
  });
}

}  // namespace bench
