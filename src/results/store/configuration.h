// Configuration at the time of a measurement: programs, libraries, drivers, firmware, kernel,
// parts, and job settings. A flat map fact -> text, for comparison fact by fact: {"library.nccl":
// "2.21.5", "gpu.3.uuid": "GPU-...", "setting.packed": "true"}.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/run/run_summary.h"

namespace bench {

struct FactChange {
  std::string fact, before, after;
};
/// {"fact": ..., "before": ..., "after": ...}
Json to_json(const FactChange& change);

/// Facts that both have and that differ, by name. Facts in only one are ignored, as suites read
/// different facts.
std::vector<FactChange> changes(const Json& before, const Json& after);

/// The configurations of a run's jobs, each kept once.
class Configurations {
 public:
  /// The report must outlive it.
  explicit Configurations(const RunSummary& report);

  /// Index in all(). For a job on one device of a host only that device's facts; for several hosts
  /// the common facts, and the distinct texts of the others. `chosen`: a library's own choice
  /// ("implementation"); "" if not reported.
  std::size_t of(const PlannedJob& job, const std::string& chosen = {});
  const std::vector<Json>& all() const { return all_; }

 private:
  Json make(const PlannedJob& job, const std::string& chosen) const;

  const RunSummary& report_;
  std::map<std::string, const Machine*> machines_;
  std::map<std::string, std::size_t> known_;  // by identifying key
  std::vector<Json> all_;
};

}  // namespace bench
