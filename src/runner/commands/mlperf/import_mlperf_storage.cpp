// benchctl import mlperf-storage PATH: import submissions of MLPerf Storage as runs.
#include "results/import/imported_runs.h"
#include "results/store/store.h"
#include "results/verdicts/published/storage_import.h"
#include "runner/commands/import_results.h"
#include "runner/commands/mlperf/mlperf_command.h"

namespace bench {
namespace {

namespace storage = mlperf::storage;

struct ImportStorageOptions : ReadingOptions {
  std::string path, round = "auto";
  std::vector<std::string> labels;
};

std::optional<int> round_of(const std::string& round) {
  if (round == "auto") return {};
  return round == "2.0" ? 2 : 3;
}

ExitCode import_mlperf_storage(const ImportStorageOptions& options) {
  const storage::StorageReport report = storage::check_storage(
      storage::find_tree(options.path), round_of(options.round), storage::Edition::closed_round);
  ImportSettings settings;
  settings.runs = options.runs();
  settings.format = "mlperf-storage";
  settings.file = options.path;
  settings.labels = Json(labels_from(options.labels));
  Store::check(options.database());
  ImportedRuns runs(std::move(settings));
  storage::import_storage(report, runs);
  return keep_imported(runs, options);
}

}  // namespace

void add_import_mlperf_storage(CLI::App& import, CommandResult& result) {
  CLI::App* command =
      import.add_subcommand("mlperf-storage", "Import submissions of MLPerf Storage 2.0 and 3.0");
  command->footer(
      "Example: benchctl import mlperf-storage storage_results_v3.0/closed/ACME\n"
      "The i-th measured run of each workload becomes a value of the system's i-th run; see "
      "docs/mlperf-storage.md for the mapping.");
  auto options = std::make_shared<ImportStorageOptions>();
  add_value(*command, "path", options->path, "PATH",
            "Read the workloads below this folder: a round, an organisation, a system or a "
            "workload")
      ->required();
  add_value(*command, "--round", options->round, "V",
            "Use the rules of this round: 2.0, 3.0, auto (default: auto)")
      ->check(CLI::IsMember({"auto", "2.0", "3.0"}));
  add_repeated(*command, "--label", options->labels,
               "Store KEY=VALUE with the runs; may be repeated");
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = import_mlperf_storage(*options); });
}

}  // namespace bench
