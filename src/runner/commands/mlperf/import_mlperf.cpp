// benchctl import mlperf PATH: import published results as runs.
#include "results/import/imported_runs.h"
#include "results/store/store.h"
#include "results/verdicts/published/published_import.h"
#include "runner/commands/import_results.h"
#include "runner/commands/mlperf/mlperf_command.h"

namespace bench {
namespace {

struct ImportMlperfOptions : ReadingOptions {
  PublishedOptions published;
  std::vector<std::string> labels;
};

ExitCode import_mlperf(const ImportMlperfOptions& options) {
  const auto entries = options.published.entries();
  ImportSettings settings;
  settings.runs = options.runs();
  settings.format = "mlperf";
  settings.file = options.published.paths.front();
  settings.labels = Json(labels_from(options.labels));
  Store::check(options.database());
  ImportedRuns runs(std::move(settings));
  mlperf::import_published(entries, runs);
  return keep_imported(runs, options);
}

}  // namespace

void add_import_mlperf(CLI::App& import, CommandResult& result) {
  CLI::App* command = import.add_subcommand("mlperf", "Import published MLPerf Training results");
  command->footer(
      "Example: benchctl import mlperf round/NVIDIA --label round=5.1\n"
      "The i-th log of each result becomes the i-th run; see docs/published.md "
      "for the mapping.");
  auto options = std::make_shared<ImportMlperfOptions>();
  add_published_options(*command, options->published, 1);
  add_repeated(*command, "--label", options->labels,
               "Store KEY=VALUE with the runs; may be repeated");
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = import_mlperf(*options); });
}

}  // namespace bench
