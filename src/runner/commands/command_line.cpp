#include "runner/commands/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/text.h"
#include "core/version.h"
#include "runner/commands/command.h"
#include "runner/manual/command_tree.h"

namespace bench {
namespace {

/// CLI11 suggests no similar name, so an unknown command is reported before it parses.
void check_command(const CLI::App& app, const std::string& word) {
  const auto names = subcommand_names(app);
  if (word.starts_with("-") || std::ranges::find(names, word) != names.end()) return;
  throw Error(ErrorKind::usage, "unknown command '" + word + "'." + did_you_mean(word, names),
              "commands: " + join(names, ", "));
}

/// The command that was given, down to `import slurm`.
const CLI::App& chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen_command(app);
  std::string what = error.what();
  if (const auto extras = app.remaining(true); !extras.empty()) {
    const std::string word = extras.front().substr(0, extras.front().find('='));
    const auto known = word.starts_with("-") ? option_names(command) : subcommand_names(command);
    what = "unknown argument '" + word + "'." + did_you_mean(word, known);
  }
  throw Error(ErrorKind::usage, what, full_name(command) + " --help lists what it takes");
}

void describe(CLI::App& app) {
  app.description("benchctl " + std::string(version()) +
                  ": run benchmark suites on a cluster, store the results, and report them.");
  app.footer(
      "Example: benchctl run smoke\n\n"
      "Exit codes: 0 all passed; 1 a gate failed or a result is invalid; 2 bad usage or input;\n"
      "3 requested measurement not possible; 4 environment problem on this machine; 130 "
      "interrupted.");
  app.set_version_flag("--version", "benchctl " + std::string(version()));
  app.require_subcommand(1);
}

/// Commands that `--help` lists together. CLI11 keeps the order in which they are added.
struct CommandGroup {
  const char* title;
  std::vector<void (*)(CLI::App&, CommandResult&)> commands;
};

const std::vector<CommandGroup>& command_groups() {
  static const std::vector<CommandGroup> groups = {
      {"Measure", {add_run, add_train, add_topology, add_doctor, add_plan, add_resume}},
      {"Judge hosts", {add_accept, add_nightly, add_golden, add_verify}},
      {"Read results",
       {add_show, add_compare, add_report, add_profile, add_runs, add_export, add_list}},
      {"Predict", {add_predict}},
      {"MLPerf", {add_mlperf}},
      {"Keep results and hosts", {add_init, add_import, add_rebuild, add_note, add_unstage}},
      {"Shell and manual", {add_completion, add_manual}}};
  return groups;
}

void add_commands(CLI::App& app, CommandResult& result) {
  for (const CommandGroup& group : command_groups())
    for (const auto add : group.commands) {
      add(app, result);
      subcommands(app).back()->group(group.title);
    }
}

/// Printed for `benchctl` alone: what most people come for.
std::string first_steps(const CLI::App& app) {
  constexpr std::pair<const char*, const char*> kSteps[] = {
      {"benchctl run smoke", "Measure this machine; every number next to its limit"},
      {"benchctl accept --hosts hosts.json", "Pass or fail new hosts, with evidence"},
      {"benchctl nightly --hosts hosts.json --budget 30m", "Find what became slower"},
      {"benchctl compare latest~1 latest", "Compare two machines or two settings"},
      {"benchctl mlperf check results/", "Check MLPerf Training logs"}};
  std::string text = app.get_description() + "\n\nBegin with:\n";
  for (const auto& [command, purpose] : kSteps)
    text += fmt::format("  {:<49} {}\n", command, purpose);
  for (const CommandGroup& group : command_groups()) {
    std::vector<std::string> names;
    for (const CLI::App* command : subcommands(app))
      if (command->get_group() == group.title) names.push_back(command->get_name());
    text += fmt::format("{}{:<24} {}\n", &group == &command_groups().front() ? "\n" : "",
                        std::string(group.title) + ":", join(names, ", "));
  }
  return text +
         "\n`benchctl init` makes a hosts file. "
         "`benchctl doctor` says what is missing,\n`benchctl help COMMAND` explains a command.\n";
}

}  // namespace

std::unique_ptr<CLI::App> make_command_line(CommandResult& result) {
  auto app = std::make_unique<CLI::App>("", "benchctl");
  describe(*app);
  add_commands(*app, result);
  return app;
}

int run_command_line(int argc, const char* const* argv) {
  CommandResult result;
  const auto made = make_command_line(result);
  CLI::App& app = *made;
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && argv[1] == std::string_view("help")) {  // help COMMAND: COMMAND --help
    words.erase(words.begin() + 1);
    if (words.size() > 1) words.push_back("--help");
    argc = static_cast<int>(words.size());
    argv = words.data();
  }
  if (argc < 2) {
    print(first_steps(app));
    return static_cast<int>(ExitCode::ok);
  }
  if (argv[1] == std::string_view("complete")) {  // its words are not this command's arguments
    print_completion(app, {argv + 2, argv + argc});
    return static_cast<int>(ExitCode::ok);
  }
  check_command(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& asked) {
    if (!app.remaining(true).empty()) refuse(app, asked);
    print(app.help());
  } catch (const CLI::CallForVersion&) {
    print("benchctl " + std::string(version()) + "\n");
  } catch (const CLI::ParseError& error) {
    refuse(app, error);
  }
  return static_cast<int>(result.code);
}

}  // namespace bench
