// What was in place when a value was measured: programs, libraries, drivers, firmware, kernel,
// parts, and settings of the job. Flat, fact -> text, so that two of them can be told apart fact by
// fact: {"library.nccl": "2.21.5", "gpu.3.uuid": "GPU-...", "setting.packed": "true"}.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/run_summary.h"

namespace bench {

struct FactChange {
  std::string fact, before, after;
};
/// {"fact": ..., "before": ..., "after": ...}
Json to_json(const FactChange& change);

/// Facts that both know and that differ, by name. What only one of them knows says nothing: another
/// suite reads other facts.
std::vector<FactChange> changes(const Json& before, const Json& after);

/// The configurations of a run's jobs, each kept once.
class Configurations {
 public:
  /// The report must outlive it.
  explicit Configurations(const RunSummary& report);

  /// Index in all(). Of a job on one device of a host only that device's facts; of several hosts
  /// what they have in common, and the distinct texts of what they do not.
  /// `chosen`: what a library took by itself ("implementation"); "" where it does not say.
  std::size_t of(const PlannedJob& job, const std::string& chosen = {});
  const std::vector<Json>& all() const { return all_; }

 private:
  Json make(const PlannedJob& job, const std::string& chosen) const;

  const RunSummary& report_;
  std::map<std::string, const Machine*> machines_;
  std::map<std::string, std::size_t> known_;  // by what decides it
  std::vector<Json> all_;
};

}  // namespace bench
