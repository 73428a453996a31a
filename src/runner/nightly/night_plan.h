// Selects and orders the jobs of a night. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "results/verdicts/nightly/night.h"
#include "results/verdicts/nightly/past.h"
#include "runner/plan/planner.h"

namespace bench {

struct NightTime {
  double budget_s = 1800.0;
  double reserve = 0.25;  // share reserved for reruns
  int parallel = 1;       // jobs at once
  std::int64_t now_ns = 0;
  std::int64_t last_night_ns = 0;  // start of the last night; 0 for none
};

struct NightPlan {
  Plan plan;
  std::vector<SkippedCheck> skipped_checks;
  double value = 0.0;
  bool exact = true;
};

/// Jobs on busy hosts (host -> state) become planned skips: nightly runs only on idle hosts.
void skip_busy(Plan& plan, const std::map<std::string, std::string>& busy);

/// A check is all jobs of one case on one host (the first host of multi-host jobs), without planned
/// skips. Each host gets the same time: the budget less the reserve, times parallel / hosts if
/// there are more hosts. Checks left out last night come first, then the most valuable
/// (check_choice.h), and last those that their rank skipped when they last ran, for want of a GPU
/// for example: they may be possible by now.
NightPlan plan_night(const Plan& whole, const PastIndex& past, const NightTime& time);

}  // namespace bench
