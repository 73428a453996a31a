// benchctl nightly pick N: prints the N healthiest hosts as a hostfile.
#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "results/verdicts/nightly/past.h"
#include "runner/commands/nightly_options.h"
#include "runner/nightly/night_past.h"

namespace bench {
namespace {

struct PickOptions : ReadingOptions {
  std::size_t count = 1;
  std::string hosts, faults;
  double days = 7.0;
};

Json health_json(const HostHealth& host, int slots) {
  return {{"host", host.host},
          {"slots", slots},
          {"incidents", host.incidents},
          {"age_s", std::isfinite(host.age_s) ? Json(host.age_s) : Json()},
          {"unfit", text_or_null(host.unfit)}};
}

int slots_of(const Inventory& inventory, const std::string& name) {
  for (const Host& host : inventory.hosts)
    if (host.name == name) return host.slots;
  return 1;
}

void say_unfit(const std::vector<HostHealth>& list) {
  for (const HostHealth& host : list)
    if (!host.unfit.empty()) say(Level::info, printable(host.host + ": " + host.unfit));
}

ExitCode pick(const PickOptions& options) {
  const Inventory inventory = read_inventory(options.hosts);
  const FaultCatalogue faults = read_faults(options.faults);
  const NightPast past = read_past(options.database());
  const PastIndex index(past, faults, now_ns());
  std::vector<std::string> names;
  for (const Host& host : inventory.hosts) names.push_back(host.name);
  const std::vector<HostHealth> list = by_health(names, past, index, options.days);
  const auto fit = static_cast<std::size_t>(
      std::ranges::count_if(list, [](const HostHealth& host) { return host.unfit.empty(); }));
  say_unfit(list);
  const bool enough = fit >= options.count;
  Json picked = Json::array();
  std::string hostfile;
  for (std::size_t i = 0; i < std::min(fit, options.count); ++i) {
    const int slots = slots_of(inventory, list[i].host);
    picked.push_back(health_json(list[i], slots));
    hostfile += fmt::format("{} slots={}\n", list[i].host, slots);
  }
  Json unfit = Json::array();
  for (const HostHealth& host : list)
    if (!host.unfit.empty()) unfit.push_back(health_json(host, slots_of(inventory, host.host)));
  if (options.json)
    print(Json{{"asked", options.count}, {"picked", picked}, {"unfit", unfit}});
  else if (enough)  // a job must not start on fewer hosts than requested
    print(hostfile);
  if (enough) return ExitCode::ok;
  say(Level::error, fmt::format("{} hosts requested, but only {} of {} are fit", options.count, fit,
                                list.size()));
  return ExitCode::not_measured;
}

}  // namespace

void add_nightly_pick(CLI::App& nightly, CommandResult& result) {
  CLI::App* command = nightly.add_subcommand("pick", "Print the N healthiest hosts as a hostfile");
  command->footer(
      "Example: benchctl nightly pick 16 --hosts hosts.json > hostfile\n"
      "Exit codes: 0 enough fit hosts; 3 too few (prints nothing without --json).");
  auto options = std::make_shared<PickOptions>();
  add_value(*command, "count", options->count, "N", "Pick this many hosts")
      ->required()
      ->check(CLI::Range(std::size_t{1}, std::size_t{100000}));
  add_value(*command, "--hosts", options->hosts, "FILE", "Pick from this hosts file")->required();
  add_value(*command, "--unchecked-days", options->days, "DAYS",
            "Treat hosts not checked for longer than this as unfit (default: 7)")
      ->check(CLI::Range(0.0, 3650.0));
  add_value(*command, "--faults", options->faults, "FILE",
            "Read fault rates and costs from this file (default: hosts/faults/faults.json)");
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = pick(*options); });
}

}  // namespace bench
