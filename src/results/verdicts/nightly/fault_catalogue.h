// Kinds of faults and the probes that find them: hosts/faults/*.json, checked by
// schemas/faults.json.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

// Probability that a host has a fault, and detection probability of a check: priors updated with
// the counts in the database of this site.

/// Prior of a kind of fault.
struct FaultPrior {
  double found = 1.0;      // found in ...
  double checked = 100.0;  // ... this many checks: Beta(found, checked - found)
  double mtbf_s = 3e7;     // mean time until a healthy host gets it
  double loss = 1.0;
};

/// Observations of it.
struct FaultPast {
  std::size_t found = 0;      // confirmed in the fleet
  std::size_t checked = 0;    // checks in the fleet that could have shown it
  double watched_s = 0.0;     // total host time under observation
  double age_s = 0.0;         // since the last check of this host; infinite for none
  std::size_t incidents = 0;  // recently confirmed on this host
};

/// 1 - (1 - p) exp(-age / mtbf): p, the chance of a fault missed by the last check, is the mean of
/// the Beta posterior times 1 + recent incidents of the host; mtbf is from the Gamma posterior,
/// (mtbf_s + watched_s) / (1 + found). 0..1.
double fault_chance(const FaultPrior& prior, const FaultPast& past);

/// (shown + assumed x 2) / (confirmed + 2): with one half assumed, Laplace's rule of succession.
/// `confirmed`: faults present during the check; `shown`: those it found.
double detection_probability(double assumed, std::size_t shown, std::size_t confirmed);

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
