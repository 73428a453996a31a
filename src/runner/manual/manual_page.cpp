#include "runner/manual/manual_page.h"

#include <algorithm>

#include "core/text.h"
#include "core/version.h"
#include "runner/manual/command_tree.h"

namespace bench {
namespace {

/// Text that troff prints as it is: '\' and '-' are commands or typographic there, and so are '.'
/// and '\'' at the start of a line.
std::string escaped(const std::string& text) {
  std::string result;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\'')
      result += "\\(aq";
    else
      result += c;
    line_start = c == '\n';
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string page_name(const CLI::App& command) {
  std::string name = full_name(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string reference(const CLI::App& command) {
  return "\\fB" + escaped(page_name(command)) + "\\fR(1)";
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : ".SH " + title + "\n" + body;
}

std::string synopsis(const CLI::App& command) {
  std::string line = bold(full_name(command));
  if (!named_options(command).empty()) line += " [" + italic("OPTION") + "]...";
  for (const CLI::Option* argument : positionals(command)) {
    const std::string more = argument->get_items_expected_max() > 1 ? "..." : "";
    const std::string value = italic(value_name(*argument)) + more;
    line += argument->get_required() ? " " + value : " [" + value + "]";
  }
  if (!subcommands(command).empty()) line += " " + italic("COMMAND");
  return line + "\n";
}

std::string entry(const std::string& term, const std::string& text) {
  return ".TP\n" + term + "\n" + escaped(text) + "\n";
}

std::string options(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* argument : positionals(command))
    text += entry(italic(value_name(*argument)), argument->get_description());
  for (const CLI::Option* option : named_options(command)) {
    const std::string value = value_name(*option);
    text += entry(bold(option_spelling(*option)) + (value.empty() ? "" : " " + italic(value)),
                  option->get_description());
  }
  return text;
}

std::string commands(const CLI::App& command) {
  std::string text;
  for (const CLI::App* one : subcommands(command))
    text += entry(reference(*one), one->get_description());
  return text;
}

/// The text under the options in --help, one line each, as it is.
std::string notes(const CLI::App& command) {
  const std::string footer = command.get_footer();
  return footer.empty() ? "" : ".nf\n" + escaped(footer) + "\n.fi\n";
}

std::string files() {
  return entry(italic("~/.local/state/benchctl/results.sqlite"),
               "Results database; runs/ is next to it. BENCHCTL_DB names another.") +
         entry(italic("/etc/benchctl/site.json"),
               "Settings of the site: database, launcher, prices. ~/.config/benchctl/site.json "
               "holds those of a user.");
}

std::string see_also(const CLI::App& command) {
  if (command.get_parent() != nullptr) return reference(*command.get_parent()) + "\n";
  return "";
}

/// Without the version that --help begins with.
std::string description(const CLI::App& command) {
  const std::string text = command.get_description();
  const auto version_end = text.find(": ");
  return command.get_parent() != nullptr || version_end == std::string::npos
             ? text
             : text.substr(version_end + 2);
}

std::string page(const CLI::App& command) {
  const bool top = command.get_parent() == nullptr;
  const std::string name = page_name(command);
  return ".TH \"" + to_upper(name) + "\" 1 \"\" \"benchctl " + std::string(version()) +
         "\" \"benchctl manual\"\n.ad l\n.nh\n" +
         section("NAME", escaped(name) + " \\- " + escaped(description(command)) + "\n") +
         section("SYNOPSIS", synopsis(command)) + section("COMMANDS", commands(command)) +
         section("OPTIONS", options(command)) + section("NOTES", notes(command)) +
         section("FILES", top ? files() : "") + section("SEE ALSO", see_also(command));
}

void add_pages(const CLI::App& command, std::map<std::string, std::string>& pages) {
  pages[page_name(command) + ".1"] = page(command);
  for (const CLI::App* one : subcommands(command)) add_pages(*one, pages);
}

}  // namespace

std::map<std::string, std::string> manual_pages(const CLI::App& command) {
  std::map<std::string, std::string> pages;
  add_pages(command, pages);
  return pages;
}

}  // namespace bench
