// Plans and judges the reruns of suspicions. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/verdicts/nightly/suspects.h"
#include "runner/plan/planner.h"

namespace bench {

// IDs of the reruns of a job: "03.gemm.2.again1".

inline std::string rerun_id(const std::string& job, int k) {
  return job + ".again" + std::to_string(k);
}

inline bool is_again(std::string_view id, const std::string& job) {
  return id.starts_with(job + ".again");
}

struct Reruns {
  Plan plan;                          // job ids: "<job>.again<k>", k from 1
  std::vector<NightFinding> asked;    // with peers; judged by judge_reruns()
  std::vector<NightFinding> no_time;  // no time to rerun; unsettled
};

/// Each suspicious job `times` times, and as often on one peer: another host with the same case and
/// no suspicion. The expected time per host stays within `time_s`; the most certain suspicions come
/// first. Jobs of a host and its peer are adjacent, so that they run at the same time if lanes
/// allow.
Reruns plan_reruns(const Plan& night, const Suspicions& suspicions, int times, double time_s);

struct RerunRule {
  SuspicionRule suspicion = {};
  double level = 0.01;
};

/// The findings of `asked` with their state from the report of the reruns. `first`: the report of
/// the night, which has the series of the peers.
std::vector<NightFinding> judge_reruns(const Reruns& reruns, const RunSummary& first,
                                       const RunSummary& again, const HistoryOf& history,
                                       const RerunRule& rule);

}  // namespace bench
