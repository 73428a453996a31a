// benchctl unstage: removes staged bundles from hosts.
#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "runner/commands/command.h"
#include "runner/plan/planner.h"
#include "runner/stage/stage.h"

namespace bench {
namespace {

struct UnstageOptions {
  std::string hosts;
  bool json = false;
};

ExitCode unstage_all(const UnstageOptions& options) {
  const Inventory inventory = read_inventory(options.hosts);
  std::vector<Place> places;
  for (const Host& host : inventory.hosts) places.push_back(place_on(host, 1));
  const Interrupts interrupts;
  const auto answers = unstage(places, reach_by_agent(inventory.launch), interrupts);
  std::string text;
  for (const auto& [host, answer] : answers)
    text += fmt::format("{}: {}\n", host, answer.empty() ? "nothing staged" : answer);
  options.json ? print(Json(answers)) : print(text);
  const bool trouble = std::ranges::any_of(
      answers, [](const auto& answer) { return answer.second.starts_with("trouble: "); });
  return trouble ? ExitCode::environment : ExitCode::ok;
}

}  // namespace

void add_unstage(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand("unstage", "Remove bundles that --stage copied to hosts");
  command->footer(
      "Removes this user's bundles through the hosts file's remote shell; a bundle in use is "
      "kept.\n"
      "Example: benchctl unstage --hosts docs/examples/hosts.json");
  auto options = std::make_shared<UnstageOptions>();
  add_value(*command, "--hosts", options->hosts, "FILE",
            "Remove bundles from the hosts in this hosts file")
      ->required();
  command->add_flag("--json", options->json, "Print JSON (default: text)");
  command->callback([options, &result] { result.code = unstage_all(*options); });
}

}  // namespace bench
