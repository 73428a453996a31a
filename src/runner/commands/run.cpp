// benchctl run SUITE: plans, runs, keeps, reports.
#include <fmt/format.h>

#include "core/log.h"
#include "core/text.h"
#include "core/version.h"
#include "results/store.h"
#include "runner/commands/command.h"
#include "runner/commands/plan_options.h"
#include "runner/commands/report_output.h"
#include "runner/execute.h"

namespace bench {
namespace {

struct Options : PlanOptions, ReadingOptions {
  std::vector<std::string> labels;
};

Json labels_from(const std::vector<std::string>& texts) {
  Json labels = Json::object();
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::usage, "--label " + text + ": not of the form KEY=VALUE",
                  "for example --label driver=550.54");
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

/// The database is an index: when it cannot be written the run stands, and we say how to mend it.
/// After ^C there is no time to wait for other writers.
bool import(const std::filesystem::path& database, const std::filesystem::path& run, bool hurry) {
  StoreOptions options;
  if (hurry) options.busy_timeout_ms = 300, options.attempts = 1;
  try {
    Store::open(database, Access::write, options).import_run(run);
    return true;
  } catch (const Error& error) {
    say(Level::warning, fmt::format("the run is kept in {}, but not in the database: {}",
                                    run.string(), printable(error.what())));
    if (!error.hint().empty()) say(Level::info, "  " + printable(error.hint()));
    say(Level::info, "  when that is mended: benchctl rebuild");
    return false;
  }
}

ExitCode run(const Options& options) {
  RunRequest request;
  request.labels = labels_from(options.labels);
  const auto database = options.database();
  request.runs = options.runs();
  PlannedRun planned = plan_from(options, request.runs);
  request.plan = std::move(planned.plan);
  request.style = Progress::suitable_style();
  request.dispatcher.version = version();
  request.dispatcher.golden = GoldenValues::installed(database);

  const RunDirectory directory = execute(request, planned.catalogue, planned.site);
  const RunReport report = make_run_report(read_run(directory.path()));
  const bool indexed = import(database, directory.path(), report.interrupted);
  print_report(report, options.json);
  return indexed || report.exit_code != ExitCode::ok ? report.exit_code : ExitCode::environment;
}

}  // namespace

void add_run(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand("run", "Run a suite, keep what it measures, report it");
  command->footer(
      "Example: benchctl run smoke --only gemm --set gemm.threads=1 --label kernel=6.1");
  auto options = std::make_shared<Options>();
  add_plan_options(*command, *options);
  command->add_option("--label", options->labels, "A word to find the run by; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = run(*options); });
}

}  // namespace bench
