// benchctl nightly prune: thins the raw samples of runs that are old and have ended
// (results/run/retention.h).
#include <fmt/format.h>

#include <new>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "core/whole_file.h"
#include "results/run/retention.h"
#include "results/store/store.h"
#include "runner/commands/nightly_options.h"
#include "runner/dispatch/run_directory.h"
#include "runner/nightly/time_text.h"
#include "runner/site/find_run.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

struct PruneOptions : ReadingOptions {
  std::string older = "90d";
  std::size_t keep = 20;
  bool dry_run = false;
};

struct Pruned {
  std::vector<std::filesystem::path> runs;  // that changed or would change
  std::size_t series = 0, samples = 0;
  std::int64_t bytes = 0;                    // saved in records.jsonl
  std::vector<std::string> complaints = {};  // runs that could not be pruned, and why
};

bool is_old(const fs::path& run, Seconds older, std::int64_t now_ns) {
  const std::int64_t began_ns = integer_field(read_json(run / "plan.json"), "time_ns");
  return began_ns > 0 && 1e-9 * static_cast<double>(now_ns - began_ns) > older.value;
}

void prune_run(const fs::path& run, const PruneOptions& options, Pruned& pruned) {
  const fs::path file = run / "records.jsonl";
  const Spool ours = Spool::append_to(file);  // locks out other writers
  const std::string before = read_file(file);
  if (is_torn(before))
    throw Error(ErrorKind::environment,
                "not pruned: records.jsonl ends in the middle of a line, as after a crash",
                "benchctl resume " + run.filename().string() + " completes the run");
  const Thinned after = thin_records(before, options.keep);
  if (after.series == 0) return;
  check_thinned(before, after.text);
  if (!options.dry_run)
    replace_file(file, after.text, static_cast<mode_t>(fs::status(file).permissions()));
  pruned.runs.push_back(run);
  pruned.series += after.series;
  pruned.samples += after.samples;
  pruned.bytes +=
      static_cast<std::int64_t>(before.size()) - static_cast<std::int64_t>(after.text.size());
}

/// Records are replaced atomically, by a copy that was read back. Runs in use by another benchctl
/// are skipped with a complaint.
Pruned prune_runs(const PruneOptions& options) {
  const Seconds older = seconds_from(options.older, "--older");
  const fs::path runs = options.runs();
  const std::int64_t now = now_ns();
  Pruned pruned;
  for (const std::string& id : all_runs(runs)) {
    try {
      if (is_old(runs / id, older, now)) prune_run(runs / id, options, pruned);
    } catch (const Error& error) {
      pruned.complaints.push_back(id + ": " + error.text());
    } catch (const std::bad_alloc&) {
      pruned.complaints.push_back(id + ": not enough memory");
    } catch (const std::exception& error) {
      pruned.complaints.push_back(id + ": " + error.what());
    }
  }
  return pruned;
}

std::string prune_summary(const Pruned& pruned, bool dry_run) {
  return fmt::format("{} {} samples of {} series in {} runs: {} freed\n",
                     dry_run ? "would thin" : "thinned", pruned.samples, pruned.series,
                     pruned.runs.size(), format(Bytes{static_cast<double>(pruned.bytes)}));
}

ExitCode prune(const PruneOptions& options) {
  const Pruned pruned = prune_runs(options);
  for (const std::string& complaint : pruned.complaints) say(Level::warning, printable(complaint));
  bool indexed = true;
  if (!options.dry_run && !pruned.runs.empty()) {
    try {
      Store store = Store::open(options.database(), Access::write);
      for (const auto& run : pruned.runs) store.import_run(run);
    } catch (const Error& error) {
      say(Level::warning,
          "runs thinned, but the database was not updated: " + printable(error.what()));
      say(Level::info, "  fix that, then run benchctl rebuild");
      indexed = false;
    }
  }
  if (options.json)
    print(Json{{"runs", pruned.runs.size()},
               {"series", pruned.series},
               {"samples", pruned.samples},
               {"bytes", pruned.bytes},
               {"dry_run", options.dry_run},
               {"complaints", pruned.complaints}});
  else
    print(prune_summary(pruned, options.dry_run));
  return indexed && pruned.complaints.empty() ? ExitCode::ok : ExitCode::environment;
}

}  // namespace

void add_nightly_prune(CLI::App& nightly, CommandResult& result) {
  CLI::App* command =
      nightly.add_subcommand("prune", "Thin the raw samples of old runs; verdicts are kept");
  command->footer(
      "Example: benchctl nightly prune --older 90d --keep 20\n"
      "Statistics computed from all samples are kept, so reports do not change.");
  auto options = std::make_shared<PruneOptions>();
  add_value(*command, "--older", options->older, "TIME",
            "Prune runs older than this (default: 90d)");
  add_value(*command, "--keep", options->keep, "N",
            "Keep this many samples per series (default: 20)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000000}));
  command->add_flag("--dry-run", options->dry_run,
                    "Print what would be removed, and change nothing");
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = prune(*options); });
}

}  // namespace bench
