// The machines and programs of a run, gathered from its facts records.
#pragma once

#include <vector>

#include "core/json.h"
#include "results/run/run_summary.h"

namespace bench {

/// One per host with facts, by name. Facts of pinned processes are ignored if an unpinned one
/// reported; among equals the later wins, key by key.
std::vector<Machine> machines(const RunRecords& run, const std::vector<Result>& results);

/// The distinct "program" facts, benchctl (from the plan) first.
Json programs(const RunRecords& run);

}  // namespace bench
