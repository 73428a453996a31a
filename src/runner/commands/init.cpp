// benchctl init: writes a hosts file and the user's site.json, from options or by asking.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "core/hostlist.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "runner/commands/command.h"
#include "runner/doctor/host_state.h"
#include "runner/hosts/inventory.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

struct InitOptions {
  std::string hosts;
  std::string user;
  std::string launcher;
  std::string database;
  std::string file = "hosts.json";
  std::string site;
  int slots = 0;  // 0: the CPUs of each host
};

/// The answer on the terminal; `usual` for an empty line.
std::string ask_user(const std::string& question, const std::string& usual) {
  fmt::print(stderr, "{}{}: ", question, usual.empty() ? "" : " [" + usual + "]");
  std::string line;
  if (!std::getline(std::cin, line))
    throw Error(ErrorKind::usage, "no answer to '" + question + "'",
                "answer on a terminal, or give options; see benchctl init --help");
  const std::string answer(trim(line));
  return answer.empty() ? usual : answer;
}

void ask_for_missing(InitOptions& options) {
  if (isatty(STDIN_FILENO) == 0)
    throw Error(ErrorKind::usage, "--hosts is missing, and there is no terminal to ask on",
                "for example benchctl init --hosts 'node[01-16]'");
  options.hosts = ask_user("Hosts, such as node[01-16]", this_host_name());
  options.user = ask_user("User on these hosts (empty: the same)", "");
  options.launcher = ask_user("Launcher: auto, mpirun or slurm", "auto");
  options.database = ask_user("Folder for results", database_path("").parent_path().string());
}

/// One entry for hosts of equal slots.
Json entries_of(const std::map<int, std::vector<std::string>>& by_slots, const std::string& user) {
  Json entries = Json::array();
  for (const auto& [slots, names] : by_slots) {
    Json entry = {{"name", compact_hostlist(names)}, {"slots", slots}};
    if (!user.empty()) entry["address"] = user + "@{name}";
    entries.push_back(std::move(entry));
  }
  return {{"hosts", entries}};
}

/// Asks each host for its CPUs. Hosts that do not answer get one slot, and a warning.
std::map<int, std::vector<std::string>> count_cpus(const std::vector<std::string>& names,
                                                   const std::string& user) {
  const Inventory inventory = inventory_from_json(entries_of({{1, names}}, user), "--hosts");
  const Interrupts interrupts;
  std::map<int, std::vector<std::string>> by_slots;
  for (const HostState& host : ask_hosts(inventory, interrupts)) {
    const auto cpus = host.number("cpus");
    const bool known = cpus && *cpus >= 1.0 && *cpus <= 100'000.0;
    by_slots[known ? static_cast<int>(*cpus) : 1].push_back(host.host);
    if (!known)
      say(Level::warning,
          fmt::format("{} does not answer, so it gets one slot: {}", printable(host.host),
                      host.trouble.empty() ? "it did not say how many CPUs it has" : host.trouble));
  }
  return by_slots;
}

Json site_of(const InitOptions& options) {
  Json site = Json::object();
  if (!options.launcher.empty() && options.launcher != "auto") site["launcher"] = options.launcher;
  if (!options.database.empty())
    site["database"] =
        (std::filesystem::absolute(options.database).lexically_normal() / "results.sqlite")
            .string();
  return site;
}

void write_site(const InitOptions& options) {
  const Json site = site_of(options);
  if (site.empty()) return;
  const std::string file =
      options.site.empty() ? (site_folders().back() / "site.json").string() : options.site;
  std::filesystem::create_directories(std::filesystem::absolute(file).parent_path());
  create_file(file, site.dump(1) + "\n");
  read_site_settings({file});  // so that a mistake is said now
  print("wrote " + file + "\n");
}

void initialise(InitOptions& options) {
  if (options.hosts.empty()) ask_for_missing(options);
  const auto names = expand_hostlist(options.hosts);
  const auto by_slots = options.slots > 0
                            ? std::map<int, std::vector<std::string>>{{options.slots, names}}
                            : count_cpus(names, options.user);
  const Json hosts = entries_of(by_slots, options.user);
  inventory_from_json(hosts, "--hosts");
  create_file(options.file, hosts.dump(1) + "\n");
  print(fmt::format("wrote {}: {} hosts\n", options.file, names.size()));
  write_site(options);
  print(
      fmt::format("next: benchctl doctor --hosts {0}\n"
                  "      benchctl accept --hosts {0}\n",
                  options.file));
}

}  // namespace

void add_init(CLI::App& app, CommandResult&) {
  CLI::App* command =
      app.add_subcommand("init", "Write a hosts file and site settings, by asking or from options");
  command->footer(
      "Example: benchctl init --hosts 'node[01-16]' --launcher mpirun\n"
      "Without --hosts it asks. It replaces no file. Hosts from elsewhere: benchctl import "
      "hostfile "
      "or slurm.");
  auto options = std::make_shared<InitOptions>();
  add_value(*command, "--hosts", options->hosts, "HOSTS", "List these hosts, e.g. node[01-16]");
  add_value(*command, "--slots", options->slots, "N",
            "Give each host this many slots (default: its CPUs; each host is asked over ssh)")
      ->check(CLI::Range(1, 100'000));
  add_value(*command, "--user", options->user, "NAME", "Log in to the hosts as this user");
  add_value(*command, "--launcher", options->launcher, "auto|local|mpirun|slurm",
            "Write this launcher to site.json");
  add_value(*command, "--database", options->database, "DIR",
            "Keep results in this folder; written to site.json");
  add_value(*command, "-o,--output", options->file, "FILE",
            "Write the hosts file here (default: hosts.json)");
  add_value(*command, "--site", options->site, "FILE",
            "Write site settings here (default: ~/.config/benchctl/site.json)");
  command->callback([options] { initialise(*options); });
}

}  // namespace bench
