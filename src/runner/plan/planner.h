// Turns a suite and an inventory into the jobs of a run. Pure: nothing is looked up, nothing
// started.
#pragma once

#include <string>
#include <vector>

#include "core/job.h"
#include "core/units.h"
#include "runner/hosts/inventory.h"
#include "runner/launch/launcher.h"
#include "runner/plan/durations.h"
#include "runner/plan/suite.h"

namespace bench {

struct PlanEntry {
  Job job;
  Json axes = Json::object();  // what distinguishes it inside its case
  std::string skip;            // why it is not going to run; empty for a job that is
  std::vector<Place> places;   // of its ranks, in the order of job.hosts
  Seconds cooldown = {};       // its hosts rest so long afterwards
  Seconds expected;            // what it took last time, else a guess
};

struct Plan {
  Suite suite;
  Inventory inventory;
  std::vector<PlanEntry> entries;  // in the order in which they run: the suite's
  Json gates = Json::object();     // case -> [gate, ...]
  Seconds expected;
};

Plan make_plan(const Suite& suite, const Inventory& inventory, const ProbeCatalogue& catalogue,
               const LaunchSite& site, const Durations& durations = {});

/// Where `ranks` ranks go on that host.
Place place_on(const Host& host, int ranks);

}  // namespace bench
