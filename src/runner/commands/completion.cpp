// benchctl completion SHELL, and the question that its scripts ask.
#include "runner/manual/completion.h"

#include "core/locations.h"
#include "core/text.h"
#include "runner/commands/command.h"
#include "runner/plan/probe_catalogue.h"
#include "runner/plan/suite.h"
#include "runner/site/find_run.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const auto& file : all_suites()) names.push_back(suite_name(file));
  return names;
}

/// Newest first: a shell shows the first of many.
std::vector<std::string> run_names() {
  auto names = all_runs(runs_folder(database_path("")));
  names.push_back("latest");
  std::ranges::reverse(names);
  return names;
}

/// A shell that completes a word shows no errors, so what cannot be read offers nothing.
std::vector<std::string> names_here(const std::string& value) try {
  if (value == "SUITE") return suite_names();
  if (value == "RUN") return run_names();
  if (value == "METRIC")
    return ProbeCatalogue::load(data_root() / "schemas" / "probes").metric_names();
  return {};
} catch (const Error&) {
  return {};
}

}  // namespace

void print_completion(const CLI::App& app, const std::vector<std::string>& words) {
  print(completion_lines(complete(app, words, names_here)));
}

void add_completion(CLI::App& app, CommandResult&) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes commands in a shell");
  command->footer(
      "Example: source <(benchctl completion bash)\n"
      "         benchctl completion zsh > ~/.zfunc/_benchctl\n"
      "         benchctl completion fish > ~/.config/fish/completions/benchctl.fish\n"
      "Installed packages bring these scripts along.");
  auto shell = std::make_shared<std::string>();
  add_value(*command, "shell", *shell, join(completion_shells(), "|"), "Choose the shell")
      ->required();
  command->callback([shell] {
    const auto& shells = completion_shells();
    if (std::ranges::find(shells, *shell) == shells.end())
      throw Error(ErrorKind::usage,
                  "unknown shell '" + *shell + "'." + did_you_mean(*shell, shells),
                  "shells: " + join(shells, ", "));
    print(completion_script(*shell));
  });
}

}  // namespace bench
