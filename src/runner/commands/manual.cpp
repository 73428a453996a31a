// benchctl manual DIR: writes manual pages.
#include <fmt/format.h>

#include "core/whole_file.h"
#include "runner/commands/command.h"
#include "runner/manual/manual_page.h"

namespace bench {
namespace {

const CLI::App& top_of(const CLI::App& command) {
  return command.get_parent() == nullptr ? command : top_of(*command.get_parent());
}

}  // namespace

void add_manual(CLI::App& app, CommandResult&) {
  CLI::App* command =
      app.add_subcommand("manual", "Write manual pages (man) of all commands into a folder");
  command->footer(
      "Example: benchctl manual ~/.local/share/man/man1 && man benchctl-run\n"
      "Installed packages bring these pages along.");
  auto folder = std::make_shared<std::string>();
  add_value(*command, "folder", *folder, "DIR", "Write the pages into this folder")->required();
  command->callback([command, folder] {
    const auto pages = manual_pages(top_of(*command));
    for (const auto& [name, text] : pages) write_file(std::filesystem::path(*folder) / name, text);
    print(fmt::format("{} pages written to {}\n", pages.size(), *folder));
  });
}

}  // namespace bench
