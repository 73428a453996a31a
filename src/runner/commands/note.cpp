// benchctl note RUN TEXT: a person's word on a run, in the journal.
#include "core/log.h"
#include "core/text.h"
#include "results/journal.h"
#include "results/store.h"
#include "runner/commands/command.h"
#include "runner/find_run.h"
#include "runner/user_name.h"

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
  } catch (const Error& error) {  // the journal has it, and rebuild takes it from there
    say(Level::warning, "noted, but not in the database: " + printable(error.what()));
  }
  if (options.json)
    print(Json{
        {"run", run}, {"kind", to_string(entry.kind)}, {"text", entry.text}, {"user", entry.user}});
  else
    print(run + ": noted (" + std::string(to_string(entry.kind)) + ")\n");
}

}  // namespace

void add_note(CLI::App& app, CommandResult&) {
  CLI::App* command = app.add_subcommand("note", "Write a remark on a run into the journal");
  command->footer("Example: benchctl note latest --discard 'the fans were off'");
  auto options = std::make_shared<NoteOptions>();
  command->add_option("run", options->run, "A run's id, its beginning, or latest")
      ->required()
      ->type_name("RUN");
  command->add_option("text", options->text, "What there is to say")->required()->type_name("TEXT");
  auto* discard =
      command->add_flag("--discard", options->discard,
                        "The run does not count (default: a remark only); its numbers stay");
  command->add_flag("--restore", options->restore, "It counts again")->excludes(discard);
  add_reading_options(*command, *options);
  command->callback([options] { note(*options); });
}

}  // namespace bench
