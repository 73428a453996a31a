// benchctl doctor: what is missing on this host or on these hosts, and the command that repairs it.
#include <fmt/format.h>

#include "core/hostlist.h"
#include "core/text.h"
#include "core/version.h"
#include "runner/commands/command.h"
#include "runner/doctor/advice.h"

namespace bench {
namespace {

struct DoctorOptions {
  std::string hosts;
  std::string program;
  bool all = false;
  bool json = false;
};

Json advice_json(const std::vector<Advice>& advice) {
  Json list = Json::array();
  for (const Advice& one : advice)
    list.push_back({{"check", one.check},
                    {"need", to_string(one.need)},
                    {"found", one.found},
                    {"why", text_or_null(one.why)},
                    {"command", text_or_null(one.command)},
                    {"hosts", one.hosts}});
  return {{"need", to_string(worst(advice))}, {"checks", list}};
}

std::size_t count_of(const std::vector<Advice>& advice, Need need) {
  return static_cast<std::size_t>(std::ranges::count(advice, need, &Advice::need));
}

std::string advice_entry(const Advice& one, std::size_t hosts) {
  std::string text = fmt::format("{:<7} {:<15} {}", to_string(one.need), one.check, one.found);
  if (hosts > 1)
    text += one.hosts.size() == hosts ? " (all hosts)" : " (" + compact_hostlist(one.hosts) + ")";
  text += "\n";
  if (!one.why.empty()) text += fmt::format("{:24}{}\n", "", one.why);
  if (!one.command.empty()) text += fmt::format("{:24}$ {}\n", "", one.command);
  return text;
}

std::string advice_text(const std::vector<Advice>& advice, std::size_t hosts, bool all) {
  const std::size_t repairs = count_of(advice, Need::repair), notes = count_of(advice, Need::note);
  std::string text = fmt::format("{} host{}: {} to repair, {} note{}, {} checks in order\n\n",
                                 hosts, hosts == 1 ? "" : "s", repairs, notes,
                                 notes == 1 ? "" : "s", count_of(advice, Need::none));
  for (const Need need : {Need::repair, Need::note, Need::unknown, Need::none})
    for (const Advice& one : advice)
      if (one.need == need && (all || need != Need::none)) text += advice_entry(one, hosts);
  if (!all) text += "\nbenchctl doctor --all lists the checks in order too.\n";
  return text;
}

ExitCode examine(const DoctorOptions& options) {
  const Inventory inventory =
      options.hosts.empty() ? this_host_only() : read_inventory(options.hosts);
  const Interrupts interrupts;
  const auto states = ask_hosts(inventory, interrupts, options.program);
  const auto advice =
      advice_for(states, {std::string(version()), inventory.hosts.size() > 1, options.hosts});
  options.json ? print(advice_json(advice))
               : print(advice_text(advice, states.size(), options.all));
  return worst(advice) == Need::repair ? ExitCode::failed : ExitCode::ok;
}

}  // namespace

void add_doctor(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Check what keeps hosts from being measured, and how to repair it");
  command->footer(
      "Example: benchctl doctor --hosts hosts.json\n"
      "Changes nothing: it prints the commands. Takes two seconds, in which it looks for other "
      "work.\n"
      "Exit codes: 0 nothing to repair (notes included); 1 something to repair.");
  auto options = std::make_shared<DoctorOptions>();
  add_value(*command, "--hosts", options->hosts, "FILE",
            "Examine the hosts in this hosts file (default: this host)");
  add_value(*command, "--rank-program", options->program, "FILE", "Look for another bench-rank");
  command->add_flag("--all", options->all, "Also list what is in order");
  command->add_flag("--json", options->json, "Print JSON (default: text)");
  command->callback([options, &result] { result.code = examine(*options); });
}

}  // namespace bench
