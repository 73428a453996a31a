// How each planned job ended, from its last outcome record.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/run/run_records.h"

namespace bench {

struct JobResult {
  PlannedJob job;
  Status outcome = Status::skipped;
  std::string reason;
  double seconds = 0.0;
  /// Requested but never started, or prevented by a lost host, an interruption or the state of the
  /// machine. Not a planned skip, so the run is incomplete.
  bool not_run = false;
  /// Faults of its devices reported by drivers meanwhile (NVIDIA's Xid), the values of its events
  /// "device_fault": [{"code", "text", "fatal", "device", "rank"}].
  Json faults = Json::array();
  /// Its hosts that dropped out (kHostOutEvent), each with the reason.
  std::map<std::string, std::string> out = {};
  /// Measured, but no series has a clean sample: nothing can be concluded from it.
  bool disturbed = false;
  /// Its series without a clean sample, named by `short_names`.
  std::vector<std::string> unclean = {};
};

/// Says which series have no clean samples, the first few by name; "" if all have some.
std::string unclean_text(const JobResult& job);

/// One per job, in plan order. A job without an outcome failed if it has any other record,
/// otherwise it was not run.
std::vector<JobResult> job_results(const RunRecords& run);

}  // namespace bench
