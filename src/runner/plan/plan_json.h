// A plan as text: what plan.json keeps and `benchctl plan --json` prints, and back again, so that a
// run can be resumed with exactly the jobs it was planned with.
#pragma once

#include "core/json_document.h"
#include "runner/plan/planner.h"

namespace bench {

/// suite, digest, inventory, jobs, skipped, gates, expected_s; and `uneven` and `cooldown_s` for
/// the jobs that have them; and the keys of `header`. Text made job by job: the jobs of 4,000 hosts
/// as one tree take hundreds of megabytes.
std::string plan_text(const Plan& plan, Json header = Json::object());
/// The same in pieces, one a job.
void write_plan(const Plan& plan, Json header, const Write& write);

/// Throws Error(input) naming what is wrong; the text may be anybody's.
Plan plan_from_json(const Json& json, const std::string& origin);

}  // namespace bench
