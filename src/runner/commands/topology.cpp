// benchctl topology: shows the hardware topology of hosts and compares it with profiles and with
// each other.
#include <fmt/format.h>

#include <algorithm>

#include "core/hostlist.h"
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/verdicts/topology_output.h"
#include "runner/acceptance/profiles.h"
#include "runner/commands/command.h"
#include "runner/commands/plan_options.h"
#include "runner/commands/report_pages.h"
#include "runner/dispatch/execute.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

struct TopologyOptions : PlanOptions, ReadingOptions {
  std::string profile, run, learn, from;
  std::vector<std::string> xml;
  bool force = false;
  PageOptions pages;
};

ProbedHosts probe_hosts(TopologyOptions& options) {
  options.suite = "topology";
  PlannedRun planned = plan_from(options, options.database());
  if (options.learn.empty())  // report a bad profile before any job starts
    profiles_of(planned.plan.inventory, options.profile, options.database());
  const RunRequest request = run_request(options, std::move(planned.plan), options.database());
  const auto folder = execute(request, planned.catalogue, planned.site).directory.path();
  ProbedHosts probed = hosts_of_run(folder);
  probed.indexed = index_run(folder, options.database(), probed.interrupted).has_value();
  return probed;
}

ProbedHosts look(TopologyOptions& options) {
  if (!options.xml.empty()) return saved_hosts(options.xml, launch_site(options).rank_program);
  return options.run.empty() ? probe_hosts(options)
                             : hosts_of_run(find_run(options.runs(), options.run));
}

const HostTopology& host_to_learn(const TopologyOptions& options, const ProbedHosts& probed) {
  if (options.from.empty() && probed.hosts.size() != 1)
    throw Error(
        ErrorKind::usage,
        fmt::format("--learn: {} hosts were found, and --from does not say which one to learn from",
                    probed.hosts.size()),
        "add --from HOST");
  std::vector<std::string> names;
  for (const HostTopology& host : probed.hosts) {
    if (options.from.empty() || host.host == options.from) {
      if (host.probed && host.trouble.empty()) return host;
      throw Error(ErrorKind::input, host.host + " cannot serve as the example: " + host.trouble,
                  "choose another host, or fix this one");
    }
    names.push_back(host.host);
  }
  throw Error(ErrorKind::usage,
              "unknown host '" + options.from + "'." + did_you_mean(options.from, names),
              "hosts: " + compact_hostlist(names));
}

void learn(const TopologyOptions& options, const ProbedHosts& probed) {
  const HostTopology& host = host_to_learn(options, probed);
  const Profile profile =
      learn_profile(std::filesystem::path(options.learn).stem().string(), host.shape,
                    {{"host", host.host},
                     {"run", probed.source.substr(0, 255)},
                     {"time", format_time(now_ns())}});
  profile_from_text(dump(to_json(profile)),
                    options.learn);  // rejects an invalid name before writing
  write_profile(options.learn, profile, options.force);
  say(Level::info, printable(fmt::format("wrote {}: {} rules learned from {}", options.learn,
                                         profile.rules.size(), host.host)));
}

ExitCode compare_and_print(const TopologyOptions& options, ProbedHosts& probed) {
  const auto of_hosts = profiles_of(probed.inventory, options.profile, options.database());
  std::map<std::string, Profile> by_name;
  for (HostTopology& host : probed.hosts)
    if (const auto profile = of_hosts.find(host.host); profile != of_hosts.end()) {
      host.profile = profile->second.name;
      by_name.insert_or_assign(host.profile, profile->second);
    }
  const FleetTopology fleet = compare_fleet(probed.hosts, by_name);
  show([&] { return to_document(fleet); }, [&] { return to_json(fleet, probed.run); }, options.json,
       options.pages);
  if (probed.interrupted) return ExitCode::interrupted;
  return with_index(exit_code_of(fleet), probed.indexed);
}

void check(const TopologyOptions& options) {
  const int sources = !options.hosts.empty() + !options.run.empty() + !options.xml.empty();
  if (sources > 1)
    throw Error(ErrorKind::usage, "--hosts, --run and --xml exclude each other",
                "choose one source of the topology");
  if (options.learn.empty() && (options.force || !options.from.empty()))
    throw Error(ErrorKind::usage, "--from and --force require --learn", "add --learn FILE");
  if (!options.learn.empty() && options.pages.any())
    throw Error(ErrorKind::usage, "--learn writes a profile and no report",
                "remove --html and --markdown");
}

ExitCode topology(TopologyOptions& options) {
  check(options);
  ProbedHosts probed = look(options);
  if (options.learn.empty()) return compare_and_print(options, probed);
  learn(options, probed);
  return ExitCode::ok;
}

void add_topology_options(CLI::App& command, TopologyOptions& options) {
  add_value(command, "--hosts", options.hosts, "FILE",
            "Inspect the hosts in this hosts file (default: this host)");
  add_value(command, "--profile", options.profile, "PROFILE",
            "Compare all hosts with this profile, a name in hosts/profiles or a file "
            "(default: the profile of each host in the hosts file)");
  add_value(command, "--run", options.run, "RUN",
            "Use the topology stored with this run: an ID or latest");
  add_value(command, "--xml", options.xml, "FILE",
            "Read machines saved by lstopo; the file name is the host name")
      ->expected(1, 100000);
  add_value(command, "--learn", options.learn, "FILE",
            "Write a profile to this file instead; it must not exist");
  add_value(command, "--from", options.from, "HOST", "Learn the profile from this host");
  command.add_flag("--force", options.force, "Let --learn replace an existing file");
  add_page_options(command, options.pages);
}

}  // namespace

void add_topology(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand(
      "topology", "Show host topology and differences from a profile or between hosts");
  command->footer(
      "Example: benchctl topology --hosts hosts.json --profile h100\n"
      "         benchctl topology --hosts hosts.json --learn hosts/profiles/h100.json --from "
      "node01\n"
      "         benchctl topology --run latest --json\n"
      "         lstopo node01.xml; benchctl topology --xml node01.xml\n"
      "Exit codes: 0 no difference; 1 a host differs; 3 a host could not be inspected or "
      "compared.");
  auto options = std::make_shared<TopologyOptions>();
  add_topology_options(*command, *options);
  add_dispatch_options(*command, *options);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = topology(*options); });
}

}  // namespace bench
