// benchctl report calibration: false alarm rate and sensitivity of report regression on this fleet.
#include "results/output/verdicts/calibration_output.h"
#include "results/store/history.h"
#include "results/store/journal.h"
#include "results/store/store.h"
#include "results/verdicts/regression/calibration.h"
#include "results/verdicts/regression/decisions.h"
#include "runner/commands/command.h"
#include "runner/commands/report_pages.h"
#include "runner/commands/selection_options.h"

namespace bench {

void add_calibration_report(CLI::App& report, CommandResult& result) {
  CLI::App* command = report.add_subcommand(
      "calibration",
      "Report the false alarm rate and sensitivity of report regression on this fleet");
  command->footer(
      "Example: benchctl report calibration --metric memory_bandwidth\n"
      "Exit codes: 0; 3 no series has twenty values at one level yet.");
  struct Options : ReadingOptions {
    SelectionOptions select;
    RegressionOptions ask;
    std::uint64_t seed = 1;
    PageOptions pages;
  };
  auto options = std::make_shared<Options>();
  add_selection_options(*command, options->select);
  add_value(*command, "--seed", options->seed, "N", "Set the random seed (default: 1)");
  add_page_options(*command, options->pages);
  add_reading_options(*command, *options);
  command->callback([options, &result] {
    const Store store = Store::open(options->database(), Access::read);
    options->ask.selection = options->select.selection();
    options->ask.decisions = decisions_of(read_journal(journal_path(options->database())));
    const Calibration calibration =
        calibration_report(Histories(store), options->ask, options->seed);
    show([&] { return to_document(calibration); }, [&] { return to_json(calibration); },
         options->json, options->pages);
    if (calibration.series == 0) result.code = ExitCode::not_measured;
  });
}

}  // namespace bench
