#include "runner/commands/training_answer.h"

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "results/output/verdicts/training_json.h"
#include "results/output/verdicts/training_output.h"
#include "results/verdicts/training/mllog_files.h"
#include "results/verdicts/training/training_report.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

/// Without measured GEMMs or a database, the report has no peak.
MeasuredPeak peak_from(const std::filesystem::path& database, const TrainingSetup& setup) {
  try {
    const Store store = Store::open(database, Access::read);
    return measured_peak(setup, [&](const std::string& metric, const std::string& host) {
      return store.series(metric, host);
    });
  } catch (const Error& error) {
    return {kNoValue, error.what()};
  }
}

void write_logs(const std::string& folder, const std::vector<RunRecords>& runs) {
  const auto texts = mllog_texts(runs);
  if (texts.empty())
    throw Error(ErrorKind::input, "none of these runs has MLPerf log lines",
                "remove --mllog; runs with --steps write no log");
  for (const MllogText& text : texts)
    if (!text.trouble.empty())
      say(Level::warning, printable("MLPerf log of job " + text.job + ": " + text.trouble));
  const auto files = write_mllog(folder, texts);
  say(Level::info, "MLPerf logs: " + files.front().string() +
                       (files.size() > 1 ? " to " + files.back().filename().string() : ""));
}

}  // namespace

void add_training_answer(CLI::App& command, TrainingAnswer& options) {
  add_page_options(command, options.pages);
  add_value(
      command, "--mllog", options.mllog, "DIR",
      "Write MLPerf logs to this folder: result_0.txt, ...; existing files are never replaced");
  command.add_flag("--include-resumed", options.include_resumed,
                   "Count trainings that resumed from a checkpoint in the mean time to train");
  add_reading_options(command, options);
}

ExitCode answer_training(const std::vector<std::filesystem::path>& runs, bool indexed,
                         const TrainingAnswer& options) {
  std::vector<RunRecords> records;
  for (const auto& run : runs) records.push_back(read_run(run));
  const auto database = options.database();
  TrainingReport report = make_training_report(
      records, [&](const TrainingSetup& setup) { return peak_from(database, setup); },
      options.include_resumed ? Resumed::counted : Resumed::left_out);
  report.exit_code = with_index(report.exit_code, indexed);
  show([&] { return to_document(report); }, [&] { return to_json(report); }, options.json,
       options.pages);
  if (!options.mllog.empty()) write_logs(options.mllog, records);
  return report.exit_code;
}

}  // namespace bench
