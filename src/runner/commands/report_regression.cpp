// benchctl report regression: regressions, with start, hosts and confidence.
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/verdicts/regression_output.h"
#include "results/store/history.h"
#include "results/store/journal.h"
#include "results/store/store.h"
#include "results/verdicts/regression/decisions.h"
#include "runner/commands/command.h"
#include "runner/commands/report_pages.h"
#include "runner/commands/selection_options.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

struct RegressionAnswer : ReadingOptions {
  SelectionOptions select;
  RegressionOptions ask;
  std::string why;
  PageOptions pages;
  std::vector<std::string> acked, fixed, noise, reopened;
  bool all = false;
};

/// Writes the decision on each finding that an ID names to the journal.
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
    } catch (const Error& error) {  // rebuild reads it from the journal
      say(Level::warning,
          "written to the journal, but not to the database: " + printable(error.what()));
    }
  }
  show([&] { return to_document(report, options.all); }, [&] { return to_json(report); },
       options.json, options.pages);
  return report.exit_code;
}

void add_decisions(CLI::App& command, RegressionAnswer& options) {
  add_repeated(command, "--ack", options.acked, "Acknowledge this finding: an ID or ID prefix")
      ->type_name("ID");
  add_repeated(command, "--fixed", options.fixed,
               "Mark this finding fixed; it reopens if a later value still shows it")
      ->type_name("ID");
  add_repeated(command, "--noise", options.noise, "Mark this finding as noise")->type_name("ID");
  add_repeated(command, "--reopen", options.reopened, "Reopen this finding: remove its mark")
      ->type_name("ID");
  add_value(command, "--why", options.why, "TEXT",
            "Record this reason with the decision in the journal");
}

}  // namespace

void add_regression_report(CLI::App& report, CommandResult& result) {
  CLI::App* command = report.add_subcommand(
      "regression", "Report regressions: since which run, on which hosts, how certain");
  command->footer(
      "Example: benchctl report regression --html regression.html\n"
      "Exit codes: 0 no open regression; 1 an open regression; 3 nothing could be judged (needs "
      "nine runs).\nDecisions are stored in the journal. docs/statistics.md describes the method.");
  auto options = std::make_shared<RegressionAnswer>();
  add_selection_options(*command, options->select);
  command
      ->add_option("--points", options->ask.most_points,
                   "Use the newest N values of each series (default: 200)")
      ->check(CLI::Range(9, 2000))
      ->type_name("N");
  command
      ->add_option("--threshold", options->ask.threshold,
                   "Ignore relative changes below this (default: set by the metric, mostly 0.01)")
      ->check(CLI::Range(1e-6, 0.9))
      ->type_name("SHARE");
  command->add_option("-q,--q", options->ask.q, "Set the false discovery rate (default: 0.03)")
      ->check(CLI::Range(1e-6, 0.5))
      ->type_name("SHARE");
  command->add_flag("--otava", options->ask.otava, "Add Apache Otava's method as another vote");
  command->add_flag("--all", options->all,
                    "Also show acknowledged findings, noise and improvements");
  add_page_options(*command, options->pages);
  add_decisions(*command, *options);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = answer(*options); });
}

}  // namespace bench
