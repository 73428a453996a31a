// benchctl nightly prune: thins the raw samples of old runs.
#include <fmt/format.h>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "results/store/store.h"
#include "runner/commands/nightly_options.h"
#include "runner/nightly/prune.h"
#include "runner/nightly/time_text.h"

namespace bench {
namespace {

struct PruneOptions : ReadingOptions {
  std::string older = "90d";
  std::size_t keep = 20;
  bool dry_run = false;
};

std::string prune_summary(const Pruned& pruned, bool dry_run) {
  return fmt::format("{} {} samples of {} series in {} runs: {} freed\n",
                     dry_run ? "would thin" : "thinned", pruned.samples, pruned.series,
                     pruned.runs.size(), format(Bytes{static_cast<double>(pruned.bytes)}));
}

ExitCode prune(const PruneOptions& options) {
  const PruneRule rule{seconds_from(options.older, "--older"), options.keep, options.dry_run};
  const Pruned pruned = prune_runs(options.runs(), rule, now_ns());
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
