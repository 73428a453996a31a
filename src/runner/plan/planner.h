// Makes the jobs of a run from a suite and an inventory. Pure.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/job.h"
#include "core/units.h"
#include "runner/hosts/inventory.h"
#include "runner/launch/launcher.h"
#include "runner/plan/suite.h"

namespace bench {

// Job durations of the last run, for the expected time of a plan.

/// By duration_key(). Unreadable entries are skipped.
using Durations = std::map<std::string, Seconds>;

/// Jobs with the same work have the same key, regardless of ID.
std::string duration_key(const Job& job);

/// From the newest run of this suite in the folder; empty if there is none.
Durations last_durations(const std::filesystem::path& runs, const std::string& suite);

struct PlanEntry {
  Job job;
  SharedJson axes;            // what distinguishes it inside its case
  std::string skip;           // reason of a skip; empty if the job runs
  std::vector<Place> places;  // of its ranks, in the order of job.hosts
  Seconds cooldown = {};      // idle time of its hosts afterwards
  Seconds expected;           // duration of the last run, else an estimate
};

struct Plan {
  Suite suite;
  Inventory inventory;
  std::vector<PlanEntry> entries;  // in execution order, that of the suite
  Json gates = Json::object();     // case -> [gate, ...]
  Seconds expected;
  Secrets secrets = {};  // of the hashes in the rest of it; not stored
};

Plan make_plan(const Suite& suite, const Inventory& inventory, const ProbeCatalogue& catalogue,
               const LaunchSite& site, const Durations& durations = {});

/// The plan without its jobs, for a selection of them.
Plan without_entries(const Plan& whole);

/// The place of `ranks` ranks on that host.
Place place_on(const Host& host, int ranks);

}  // namespace bench
