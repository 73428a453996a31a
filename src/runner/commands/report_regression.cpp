// benchctl report regression: what got worse, since when, where, and how sure.
#include "core/log.h"
#include "core/text.h"
#include "results/history/history.h"
#include "results/journal.h"
#include "results/regression/decisions.h"
#include "results/regression/regression_output.h"
#include "results/store.h"
#include "results/text_file.h"
#include "runner/commands/command.h"
#include "runner/commands/report_output.h"
#include "runner/commands/selection_options.h"
#include "runner/user_name.h"

namespace bench {
namespace {

struct RegressionAnswer : ReadingOptions {
  SelectionOptions select;
  RegressionOptions ask;
  std::string html, why;
  std::vector<std::string> acked, fixed, noise, reopened;
  bool all = false;
};

/// Writes what was decided into the journal, of each finding that an id names.
void keep_decisions(const RegressionAnswer& options, const RegressionReport& report) {
  const auto keep = [&](const std::vector<std::string>& ids, FindingState state) {
    for (const std::string& id : ids)
      for (const ChangeFinding* finding : findings_named(report.findings, id)) {
        append(journal_path(options.database()),
               entry_of({finding->id, finding->since.id, finding->since.time_ns, state, now_ns(),
                         user_name(), options.why}));
        say(Level::info, finding->id + ": noted (" + std::string(to_string(state)) + ")");
      }
  };
  keep(options.acked, FindingState::acked);
  keep(options.fixed, FindingState::fixed);
  keep(options.noise, FindingState::noise);
  keep(options.reopened, FindingState::open);
}

RegressionReport regression_report_of(const Histories& histories, RegressionAnswer& options) {
  options.ask.decisions = decisions_of(read_journal(journal_path(options.database())));
  return regression_report(histories, options.ask);
}

ExitCode answer(RegressionAnswer& options) {
  const auto database = options.database();
  const Store store = Store::open(database, Access::read);
  const Histories histories(store);
  options.ask.selection = options.select.selection();
  RegressionReport report = regression_report_of(histories, options);
  if (!options.acked.empty() || !options.fixed.empty() || !options.noise.empty() ||
      !options.reopened.empty()) {
    keep_decisions(options, report);
    report = regression_report_of(histories, options);
    try {
      Store::open(database, Access::write).import_journal(journal_path(database));
    } catch (const Error& error) {  // the journal has it, and rebuild takes it from there
      say(Level::warning, "noted, but not in the database: " + printable(error.what()));
    }
  }
  if (options.json)
    print(to_json(report));
  else
    print(to_text(report, style_of_stdout(), options.all));
  if (!options.html.empty()) write_file(options.html, to_html(report));
  return report.exit_code;
}

void add_decisions(CLI::App& command, RegressionAnswer& options) {
  add_repeated(command, "--ack", options.acked,
               "This finding is known and lived with; an id, or its beginning")
      ->type_name("ID");
  add_repeated(command, "--fixed", options.fixed,
               "It is mended: open again when a later value still shows it")
      ->type_name("ID");
  add_repeated(command, "--noise", options.noise, "It is none")->type_name("ID");
  add_repeated(command, "--reopen", options.reopened, "Nothing of the kind any more")
      ->type_name("ID");
  command.add_option("--why", options.why, "Said beside a decision, in the journal")
      ->type_name("TEXT");
}

}  // namespace

void add_regression_report(CLI::App& report, CommandResult& result) {
  CLI::App* command = report.add_subcommand(
      "regression", "What got worse, since which run, on which host, and how sure");
  command->footer(
      "Example: benchctl report regression --html regression.html\n"
      "Exit codes: 0 nothing open regressed; 1 something did; 3 nothing could be judged, which "
      "takes nine runs.\nWhat was decided is kept in the journal. docs/statistics.md has the "
      "rules.");
  auto options = std::make_shared<RegressionAnswer>();
  add_selection_options(*command, options->select);
  command
      ->add_option("--points", options->ask.most_points,
                   "The newest values of each series (default: 200)")
      ->check(CLI::Range(9, 2000))
      ->type_name("N");
  command
      ->add_option("--threshold", options->ask.threshold,
                   "Practical threshold as a share (default: the metric's own, mostly 0.01)")
      ->check(CLI::Range(1e-6, 0.9))
      ->type_name("SHARE");
  command
      ->add_option("-q,--q", options->ask.q,
                   "Share of false ones among what is found (default: 0.03)")
      ->check(CLI::Range(1e-6, 0.5))
      ->type_name("SHARE");
  command->add_flag("--otava", options->ask.otava,
                    "Ask Apache Otava's method too, as one more vote (default: no)");
  command->add_flag("--all", options->all,
                    "Show acked findings, noise and improvements too (default: no)");
  command->add_option("--html", options->html, "Write the report as a page there")
      ->type_name("FILE");
  add_decisions(*command, *options);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = answer(*options); });
}

}  // namespace bench
