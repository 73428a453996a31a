// Kinds of faults and the probes that find them: hosts/faults/*.json, checked by
// schemas/faults.json.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/nightly/fault_chance.h"

namespace bench {

struct FaultKind {
  std::string name;
  FaultPrior prior = {};
};

struct FaultDetector {
  std::string probe;   // "*": every probe without its own detector
  std::string device;  // "" for any
  std::string fault;
  double chance = 0.0;  // assumed chance that a run of the probe shows the fault
};

struct FaultCatalogue {
  std::vector<FaultKind> faults;
  std::vector<FaultDetector> detectors;

  /// fault -> detection probability of the probe.
  std::map<std::string, double> finds(const std::string& probe, const std::string& device) const;
};

/// `checked`: validated by the schema. Throws Error(input), beginning with `origin`, for a detector
/// of an unlisted fault.
FaultCatalogue fault_catalogue(const Json& checked, const std::string& origin);

}  // namespace bench
