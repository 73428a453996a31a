// The probes, from schemas/probes/*.json: parameters, metrics, and the limit of each metric
// measured in the same run.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/schema.h"
#include "core/units.h"

namespace bench {

/// A metric measured earlier in the run that is a limit for another one.
struct CeilingRule {
  std::string probe;   // "instruction_peak"
  std::string metric;  // "throughput"
  /// The ceiling's parameter -> the parameter of the bounded metric it must equal.
  std::map<std::string, std::string> where;
  /// A per-rank limit: measured by one rank on each host separately.
  bool per_rank = false;
};

struct ProbeMetric {
  std::string name;
  Unit unit = Unit::second;
  Better better = Better::none;
  bool exact = false;
  std::string description;
  std::optional<CeilingRule> ceiling;
};

struct ProbeEntry {
  std::string name;
  std::string description;
  std::vector<std::string> devices;
  std::vector<ProbeMetric> metrics;
  Schema params;
  /// Parameters marked "process": jobs with different values need separate processes, because a
  /// library reads them once.
  std::vector<std::string> process_params = {};
  /// Environment of its ranks, for libraries that read it once.
  std::map<std::string, std::string> environment = {};
};

class ProbeCatalogue {
 public:
  /// Reads every *.json in the folder. Throws Error(input) for an invalid probe schema.
  static ProbeCatalogue load(const std::filesystem::path& folder);
  explicit ProbeCatalogue(std::vector<ProbeEntry> entries);

  const std::vector<ProbeEntry>& all() const { return entries_; }
  std::vector<std::string> names() const;
  /// "gemm.throughput".
  std::vector<std::string> metric_names() const;
  /// Null for an unknown name.
  const ProbeEntry* find(const std::string& name) const;

 private:
  std::vector<ProbeEntry> entries_;
};

/// One probe from its schema; `origin` is named in errors.
ProbeEntry probe_entry(const Json& schema, const std::string& origin);

}  // namespace bench
