// benchctl report fleet: compares every host and device with its peers and its profile.
#include <algorithm>

#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "core/whole_file.h"
#include "results/output/verdicts/fleet_output.h"
#include "results/verdicts/fleet/fleet_report.h"
#include "runner/commands/command.h"
#include "runner/commands/report_pages.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

struct FleetOptions : ReadingOptions {
  std::string profile, learn, at;
  PageOptions pages;
  double valid_days = 30.0, incident_days = 90.0;
  Selection selection;
  std::vector<std::string> hosts;
};

void describe_fleet(CLI::App& command, FleetOptions& options) {
  command.footer(
      "Example: benchctl report fleet --html fleet.html\n"
      "         benchctl report fleet --learn profile.json, and later --profile profile.json\n"
      "Exit codes: 0 no host failed; 1 a host failed; 3 none could be judged.");
  add_repeated(command, "--host", options.hosts,
               "Show only this host, compared with all others; may be repeated (default: all)")
      ->type_name("HOST");
  add_repeated(command, "--metric", options.selection.metrics,
               "Include only metrics with this name or prefix; may be repeated (default: all)")
      ->type_name("METRIC");
  command
      .add_option("--valid-days", options.valid_days,
                  "Keep a verdict valid this long after the last measurement (default: 30)")
      ->check(CLI::Range(0.01, 3650.0))
      ->type_name("DAYS");
  command
      .add_option("--history-days", options.incident_days,
                  "Search this much history for hosts that fail repeatedly (default: 90)")
      ->check(CLI::Range(1.0, 3650.0))
      ->type_name("DAYS");
  command
      .add_option("--at", options.at,
                  "Report the state at this time, e.g. 2026-11-20T18:30:05Z (default: now)")
      ->type_name("TIME");
  command
      .add_option("--profile", options.profile,
                  "Judge against the criteria in this file, written by --learn")
      ->type_name("FILE");
  command
      .add_option("--learn", options.learn,
                  "Learn criteria from this fleet and write them to this file; mixed or "
                  "inconsistent fleets are refused")
      ->type_name("FILE");
  add_page_options(command, options.pages);
  add_reading_options(command, options);
}

FleetReport fleet_report_of(const FleetOptions& options) {
  FleetSettings settings;
  settings.now_ns = options.at.empty() ? now_ns() : parse_time(options.at);
  settings.valid_days = options.valid_days;
  settings.incident_days = options.incident_days;
  if (!options.profile.empty()) settings.profile = read_fleet_profile(options.profile);
  const Store store = Store::open(options.database(), Access::read);
  FleetReport report = stored_fleet(store, Histories(store), settings, options.selection);
  keep_hosts(report, options.hosts);
  return report;
}

void write_learned(const FleetReport& report, const std::string& path) {
  if (report.learned.entries.empty())
    throw Error(ErrorKind::input, "no criteria could be learned from this fleet",
                report.learned.refused.empty()
                    ? "no host was measured"
                    : printable(report.learned.refused.front().key.metric + ": " +
                                report.learned.refused.front().why));
  write_file(path, to_json(report.learned).dump(1) + "\n");
  say(Level::info, std::to_string(report.learned.entries.size()) + " criteria: " + path);
}

}  // namespace

void add_fleet_report(CLI::App& report, CommandResult& result) {
  CLI::App* command =
      report.add_subcommand("fleet", "Every host and device against its peers and its profile");
  auto options = std::make_shared<FleetOptions>();
  describe_fleet(*command, *options);
  command->callback([options, &result] {
    const FleetReport made = fleet_report_of(*options);
    show([&] { return to_document(made); }, [&] { return to_json(made); }, options->json,
         options->pages);
    if (!options->learn.empty()) write_learned(made, options->learn);
    result.code = made.exit_code;
  });
}

}  // namespace bench
