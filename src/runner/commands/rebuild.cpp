// benchctl rebuild: rebuilds the database from the stored runs and the journal.
#include <fmt/format.h>

#include "core/log.h"
#include "core/text.h"
#include "results/store/journal.h"
#include "runner/commands/command.h"

namespace bench {

void add_rebuild(CLI::App& app, CommandResult&) {
  CLI::App* command =
      app.add_subcommand("rebuild", "Rebuild the database from stored runs and the journal");
  command->footer("Example: benchctl rebuild");
  auto options = std::make_shared<ReadingOptions>();
  add_reading_options(*command, *options);
  command->callback([options] {
    const auto database = options->database();
    const Rebuilt rebuilt = rebuild(database, options->runs(), journal_path(database));
    for (const std::string& complaint : rebuilt.complaints)
      say(Level::warning, printable(complaint));
    if (options->json)
      return print(
          Json{{"database", database.string()},
               {"runs", rebuilt.runs},
               {"moved_aside", rebuilt.moved_aside.empty() ? Json() : Json(rebuilt.moved_aside)},
               {"complaints", rebuilt.complaints}});
    if (!rebuilt.moved_aside.empty())
      say(Level::warning, "the damaged database was moved to " + rebuilt.moved_aside.string());
    print(fmt::format("{}: {} runs\n", database.string(), rebuilt.runs));
  });
}

}  // namespace bench
