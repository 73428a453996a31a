// The probes as benchctl knows them: only through schemas/probes/*.json. What can be asked of each,
// what it measures, and against which ceiling of the same run its metrics are to be seen.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/schema.h"
#include "core/units.h"

namespace bench {

/// A metric measured earlier in the run that bounds another one.
struct CeilingRule {
  std::string probe;   // "instruction_peak"
  std::string metric;  // "throughput"
  /// The ceiling's parameter -> the parameter of the bounded metric it must equal.
  std::map<std::string, std::string> where;
  /// It bounds what one rank does: measured by one rank, on each host by itself.
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
  /// Parameters marked "process": jobs with other values of them get processes of their own,
  /// because a library reads what follows from them once.
  std::vector<std::string> process_params = {};
  /// Variables that its ranks start with, for libraries that read them once.
  std::map<std::string, std::string> environment = {};
};

class ProbeCatalogue {
 public:
  /// Reads every *.json in the folder. Throws Error(input) for one that is no probe schema.
  static ProbeCatalogue load(const std::filesystem::path& folder);
  explicit ProbeCatalogue(std::vector<ProbeEntry> entries);

  const std::vector<ProbeEntry>& all() const { return entries_; }
  std::vector<std::string> names() const;
  /// Null for an unknown name.
  const ProbeEntry* find(const std::string& name) const;

 private:
  std::vector<ProbeEntry> entries_;
};

/// One probe from its schema; `origin` is named in errors.
ProbeEntry probe_entry(const Json& schema, const std::string& origin);

}  // namespace bench
