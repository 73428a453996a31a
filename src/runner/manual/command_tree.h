// What help, completion and manual pages read from commands as CLI11 knows them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace bench {

/// In the order in which they were added.
std::vector<CLI::App*> subcommands(CLI::App& command);
std::vector<const CLI::App*> subcommands(const CLI::App& command);
std::vector<std::string> subcommand_names(const CLI::App& command);
/// nullptr if there is none of this name.
const CLI::App* subcommand(const CLI::App& command, const std::string& name);

/// "--json" and "-o": every spelling of every option; positional arguments have none.
std::vector<std::string> option_names(const CLI::App& command);
/// "-o, --output"; "" for a positional argument.
std::string option_spelling(const CLI::Option& option);
bool takes_value(const CLI::Option& option);
/// What stands for the value in help, such as FILE or csv|json; "" for a flag.
std::string value_name(const CLI::Option& option);
/// The only values that an option takes; empty if there are more than could be listed.
std::vector<std::string> choices(const CLI::Option& option);
std::vector<const CLI::Option*> positionals(const CLI::App& command);
std::vector<const CLI::Option*> named_options(const CLI::App& command);

/// "benchctl import slurm".
std::string full_name(const CLI::App& command);

}  // namespace bench
