// benchctl note RUN TEXT: adds a remark on a run to the journal.
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "results/store/journal.h"
#include "results/store/store.h"
#include "runner/commands/command.h"
#include "runner/site/find_run.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

struct NoteOptions : ReadingOptions {
  std::string run, text;
  bool discard = false, restore = false;
};

JournalKind kind_of(const NoteOptions& options) {
  if (options.discard) return JournalKind::discard;
  return options.restore ? JournalKind::restore : JournalKind::note;
}

void note(const NoteOptions& options) {
  const std::string run = find_run(options.runs(), options.run).filename();
  const auto database = options.database();
  const JournalEntry entry{0, now_ns(), user_name(), kind_of(options), run, options.text};
  append(journal_path(database), entry);
  try {
    Store::open(database, Access::write).import_journal(journal_path(database));
  } catch (const Error& error) {  // rebuild reads it from the journal
    say(Level::warning,
        "written to the journal, but not to the database: " + printable(error.what()));
  }
  if (options.json)
    print(Json{
        {"run", run}, {"kind", to_string(entry.kind)}, {"text", entry.text}, {"user", entry.user}});
  else
    print(run + ": noted (" + std::string(to_string(entry.kind)) + ")\n");
}

}  // namespace

void add_note(CLI::App& app, CommandResult&) {
  CLI::App* command = app.add_subcommand("note", "Add a remark on a run to the journal");
  command->footer("Example: benchctl note latest --discard 'the fans were off'");
  auto options = std::make_shared<NoteOptions>();
  add_value(*command, "run", options->run, "RUN",
            "Annotate this run: an ID, an ID prefix, or latest")
      ->required();
  add_value(*command, "text", options->text, "TEXT", "Write this text")->required();
  auto* discard = command->add_flag(
      "--discard", options->discard,
      "Exclude the run from reports, but keep its results (default: remark only)");
  command->add_flag("--restore", options->restore, "Include a discarded run again")
      ->excludes(discard);
  add_reading_options(*command, *options);
  command->callback([options] { note(*options); });
}

}  // namespace bench
