// Which of a suite's jobs a night runs, and in which order. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "results/nightly/night.h"
#include "results/nightly/past.h"
#include "runner/plan/planner.h"

namespace bench {

struct NightTime {
  double budget_s = 1800.0;
  double reserve = 0.25;  // the share of it that is kept for re-runs
  int parallel = 1;       // jobs at once
  std::int64_t now_ns = 0;
  std::int64_t last_night_ns = 0;  // when the last one began; 0 for none
};

struct NightPlan {
  Plan plan;
  std::vector<LeftOut> left_out;
  double value = 0.0;
  bool exact = true;
};

/// Jobs on a host that is busy (host -> its state) become planned skips: a night takes idle hosts.
void skip_busy(Plan& plan, const std::map<std::string, std::string>& busy);

/// A check is all jobs of one case on one host, for jobs of several hosts on the first of them; a
/// planned skip is none. Each host gets the same time: the budget less the reserve, times parallel
/// / hosts where there are more hosts. Checks that the last night left out are taken first, of all
/// others those that are worth most (check_choice.h).
NightPlan plan_night(const Plan& whole, const PastIndex& past, const NightTime& time);

}  // namespace bench
