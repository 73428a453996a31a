#include "runner/manual/command_tree.h"

#include "core/text.h"

namespace bench {

std::vector<CLI::App*> subcommands(CLI::App& command) {
  return command.get_subcommands([](CLI::App*) { return true; });
}

std::vector<const CLI::App*> subcommands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one : subcommands(command)) names.push_back(one->get_name());
  return names;
}

const CLI::App* subcommand(const CLI::App& command, const std::string& name) {
  for (const CLI::App* one : subcommands(command))
    if (one->get_name() == name) return one;
  return nullptr;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string option_spelling(const CLI::Option& option) {
  std::vector<std::string> spellings;
  for (const std::string& name : option.get_snames()) spellings.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) spellings.push_back("--" + name);
  return join(spellings, ", ");
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string value_name(const CLI::Option& option) {
  if (!takes_value(option)) return "";
  if (const auto known = choices(option); !known.empty()) return join(known, "|");
  // CLI11 appends each check: "N:INT in [1 - 100]".
  const std::string name = option.get_type_name();
  return name == "HH:MM" ? name : name.substr(0, name.find(':'));
}

std::vector<std::string> choices(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  std::string listed;
  if (const auto open = name.find('{'); open != std::string::npos)  // of CLI::IsMember
    listed = name.substr(open + 1, name.find('}', open) - open - 1);
  else if (name.find('|') != std::string::npos)
    listed = name;
  std::vector<std::string> values;
  for (const std::string_view value : words_of(listed, ",|")) values.emplace_back(value);
  return values;
}

std::vector<const CLI::Option*> positionals(const CLI::App& command) {
  return command.get_options([](const CLI::Option* one) { return one->get_positional(); });
}

std::vector<const CLI::Option*> named_options(const CLI::App& command) {
  return command.get_options(
      [](const CLI::Option* one) { return one->nonpositional() && !one->get_group().empty(); });
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr ? "" : full_name(*parent) + " ") + command.get_name();
}

}  // namespace bench
