// The machines and programs of a run, gathered from its facts records.
#pragma once

#include <vector>

#include "core/json.h"
#include "results/run_summary.h"

namespace bench {

/// One per host that stated facts, by name. Statements of processes that were pinned to a part of
/// their host do not count beside one that was not; of equals the later wins, key by key.
std::vector<Machine> machines(const RunRecords& run, const std::vector<Result>& results);

/// The distinct "program" facts, benchctl (from the plan) first.
Json programs(const RunRecords& run);

}  // namespace bench
