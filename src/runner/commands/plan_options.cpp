#include "runner/commands/plan_options.h"

#include <algorithm>

#include "core/error.h"
#include "core/locations.h"
#include "core/log.h"
#include "core/text.h"
#include "runner/commands/command.h"
#include "runner/hardware/gate_plausibility.h"
#include "runner/hosts/known_facts.h"
#include "runner/hosts/slurm_nodes.h"
#include "runner/launch/program_output.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

/// Only warns: an odd threshold may be intended, and an unreadable hardware catalogue must not keep
/// a suite from running.
void warn_of_gates(const Suite& suite, const Inventory& inventory) {
  const bool gated = std::ranges::any_of(
      suite.cases, [](const Case& suite_case) { return !suite_case.gates.empty(); });
  if (!gated) return;
  try {
    for (const Finding& finding :
         implausible_gates(suite, inventory, HardwareCatalogue::installed()))
      say(Level::warning, printable("implausible threshold (" +
                                    std::string(to_string(finding.kind)) + "): " + finding.text));
  } catch (const Error& error) {
    say(Level::warning, printable("cannot check thresholds: " + std::string(error.what())));
  }
}

Inventory inventory_for(const PlanOptions& options, const LaunchSite& site) {
  if (!options.hosts.empty()) return read_inventory(options.hosts);
  const bool allocated = site.kind == LauncherKind::slurm && site.allocation;
  return allocated ? inventory_of(*site.allocation) : this_host_only();
}

/// One node that is down would block the allocation. Not checked for a reservation: its nodes may
/// be in maintenance for everybody else.
bool needs_allocation(const Inventory& inventory, const LaunchSite& site) {
  return site.kind == LauncherKind::slurm && !site.slurm.srun.empty() && !site.allocation &&
         inventory.slurm.reservation.empty();
}

bool needs_facts(const Suite& suite) {
  return std::ranges::any_of(suite.cases, [](const Case& one) {
    return one.scope.kind == ScopeKind::device || one.scope.kind == ScopeKind::rail ||
           one.scope.by_fact;
  });
}

}  // namespace

void add_plan_options(CLI::App& command, PlanOptions& options) {
  add_value(command, "suite", options.suite, "SUITE",
            "Use this suite: a name (benchctl list suites), ./FILE or FILE.json")
      ->required();
  add_value(command, "--hosts", options.hosts, "FILE",
            "Use the hosts in this hosts file (default: nodes of the current Slurm "
            "allocation, else this host)");
  add_repeated(command, "--only", options.changes.only, "Run only this case; may be repeated")
      ->type_name("CASE");
  add_repeated(command, "--set", options.changes.set,
               "Override a parameter, e.g. gemm.threads=1; may be repeated")
      ->type_name("CASE.PARAM=VALUE");
  add_dispatch_options(command, options);
}

PlannedRun plan_from(const PlanOptions& options, const std::filesystem::path& database) {
  return plan_from(options, database, [&](const ProbeCatalogue& catalogue) {
    return read_suite(find_suite(options.suite), catalogue, options.changes);
  });
}

PlannedRun plan_from(const PlanOptions& options, const std::filesystem::path& database,
                     const SuiteReader& read) {
  auto catalogue = ProbeCatalogue::load(data_root() / "schemas" / "probes");
  auto site = launch_site(options);
  const Suite suite = read(catalogue);
  Inventory inventory = inventory_for(options, site);
  site.settings = inventory.launch;  // another host may have programs that this one lacks
  if (needs_facts(suite)) add_known_facts(inventory, database);
  if (needs_allocation(inventory, site))
    site.nodes_down = unusable_slurm_nodes(program_output(kShowNodes, kSlurmAnswers));
  warn_of_gates(suite, inventory);
  Plan plan = make_plan(suite, inventory, catalogue, site,
                        last_durations(runs_folder(database), suite.name));
  return {std::move(catalogue), site, std::move(plan)};
}

}  // namespace bench
