// What is run again of a night's suspects, and what the re-runs say. Pure.
#pragma once

#include <vector>

#include "results/nightly/suspects.h"
#include "runner/plan/planner.h"

namespace bench {

struct Reruns {
  Plan plan;                          // job ids: "<job>.again<k>", k from 1
  std::vector<NightFinding> asked;    // with their peers; each is judged by judge_reruns()
  std::vector<NightFinding> no_time;  // there was no time to ask; unsettled
};

/// Each suspect's job `times` times, and as often the same job of one peer: another host with the
/// same case of which nothing is suspected. The sum of what a host's jobs are expected to take
/// stays within `time_s`; of what does not fit the surest suspicions are asked first. Jobs of a
/// host and of its peer stand side by side, so that they run at once where lanes allow.
Reruns plan_reruns(const Plan& night, const Suspicions& suspicions, int times, double time_s);

struct RerunRule {
  SuspicionRule suspicion = {};
  double level = 0.01;
};

/// The findings of `asked` with the state that the report of their re-runs gives them. `first`: the
/// night's own report, which knows the peers' series.
std::vector<NightFinding> judge_reruns(const Reruns& reruns, const RunSummary& first,
                                       const RunSummary& again, const HistoryOf& history,
                                       const RerunRule& rule);

}  // namespace bench
