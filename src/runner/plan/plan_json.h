// Writes and reads plan.json and `benchctl plan --json`. A run is resumed with exactly its planned
// jobs.
#pragma once

#include "core/json_document.h"
#include "runner/plan/planner.h"

namespace bench {

/// suite, digest, inventory, jobs, skipped, gates, expected_s, the keys of `header`, and per job
/// optionally `uneven` and `cooldown_s`. Written job by job: one tree for 4,000 hosts would take
/// hundreds of megabytes.
std::string plan_text(const Plan& plan, Json header = Json::object());
/// The same in pieces, one per job.
void write_plan(const Plan& plan, Json header, const Write& write);

/// Throws Error(input); the text is untrusted.
Plan plan_from_json(const Json& json, const std::string& origin);

}  // namespace bench
