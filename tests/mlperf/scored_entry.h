// Entries of synthetic runs for score tests.
#pragma once

#include <string>
#include <vector>

#include "mlperf/score/entry_score.h"

namespace bench::mlperf {

inline ScoredRun run_of(int number, double minutes, double samples) {
  ScoredRun run;
  ReadRun& read = run.read;
  read.file = "result_" + std::to_string(number) + ".txt";
  read.compliant = true;
  read.ruleset = "5.1.0";
  read.launch_ms = 1e12 + 1e9 * number;
  read.facts.status = "success";
  read.facts.minutes = minutes;
  read.facts.benchmark = "llama31_405b";
  read.facts.global_batch_size = 1152;
  read.facts.last_before_stop = Evaluation{.value = PythonValue(5.5), .samples_count = samples};
  return run;
}

/// For 405B: three required runs, one reference point with mean 100 and deviation 4.
inline RcpSet small_set() {
  RcpSet set{.ruleset = "5.1.0", .benchmark = "llama31_405b", .runs = 3, .unit = "samples"};
  RcpPoint point{.name = "p", .batch = 1152, .n = 6, .mean = 100, .stdev = 4};
  set_minimum(point, set.runs, 4);
  set.points.push_back(point);
  prune(set);
  return set;
}

inline EntryScore entry_of(const std::vector<ScoredRun>& runs) {
  EntryScore entry{.submitter = "acme", .system = "sys", .benchmark = "llama31_405b"};
  entry.division = "closed";
  entry.ruleset = "5.1.0";
  entry.runs = runs;
  return entry;
}

}  // namespace bench::mlperf
