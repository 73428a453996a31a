// benchctl runs: lists stored runs, newest first.
#include <fmt/format.h>

#include <cmath>

#include "core/hostlist.h"
#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "results/store/store.h"
#include "runner/commands/command.h"

namespace bench {
namespace {

Json run_json(const RunRow& run) {
  return {{"run", run.id},
          {"suite", run.suite},
          {"time", format_time(run.time_ns)},
          {"seconds", std::isfinite(run.seconds) ? Json(run.seconds) : Json()},
          {"hosts", run.hosts},
          {"outcome", run.outcome},
          {"exit_code", run.exit_code},
          {"finished", run.finished},
          {"labels", run.labels},
          {"results", run.results},
          {"discarded", run.discarded ? Json(*run.discarded) : Json()}};
}

std::string run_line(const RunRow& run) {
  std::string notes;
  for (const auto& [name, value] : run.labels.items())
    notes += fmt::format(" {}={}", name, text_of(value));
  if (!run.finished) notes += " (did not finish)";
  if (run.discarded) notes += " (discarded: " + *run.discarded + ")";
  return printable(fmt::format("{:<44} {:<10} {:>9} {:>5} results  {}{}", run.id, run.outcome,
                               format(Seconds{run.seconds}), run.results,
                               compact_hostlist(run.hosts), notes)) +
         "\n";
}

}  // namespace

void add_runs(CLI::App& app, CommandResult&) {
  CLI::App* command = app.add_subcommand("runs", "List stored runs, newest first");
  command->footer("Example: benchctl runs --json");
  auto options = std::make_shared<ReadingOptions>();
  add_reading_options(*command, *options);
  command->callback([options] {
    const auto rows = Store::open(options->database(), Access::read).runs();
    Json list = Json::array();
    std::string text;
    for (const RunRow& row : rows) {
      list.push_back(run_json(row));
      text += run_line(row);
    }
    options->json ? print(list) : print(text);
  });
}

}  // namespace bench
