// How likely a host has a fault now, and how well a check shows one: what was assumed, corrected by
// what the fleet has seen. All counts are of this site's database.
#pragma once

#include <cstddef>

namespace bench {

/// What is assumed of a kind of fault before anything was seen.
struct FaultPrior {
  double found = 1.0;      // of so many checks ...
  double checked = 100.0;  // ... this many found it: Beta(found, checked - found)
  double mtbf_s = 3e7;     // mean time until a healthy host gets it
  double loss = 1.0;
};

/// What was seen of it.
struct FaultPast {
  std::size_t found = 0;      // confirmed in the fleet
  std::size_t checked = 0;    // checks in the fleet that could have shown it
  double watched_s = 0.0;     // time over which the fleet's hosts were watched for it, summed
  double age_s = 0.0;         // since the last check of this host; infinite where there was none
  std::size_t incidents = 0;  // confirmed on this host of late
};

/// 1 - (1 - p) exp(-age / mtbf): p, what the last check may have missed, is the mean of the Beta
/// posterior, as often as the host had incidents of late and once more; mtbf is that of the Gamma
/// posterior, (mtbf_s + watched_s) / (1 + found). 0..1.
double fault_chance(const FaultPrior& prior, const FaultPast& past);

/// (shown + assumed x 2) / (confirmed + 2): with one half assumed, Laplace's rule of succession.
/// `confirmed`: faults that were there while the check was made, `shown` of them by it.
double detection_probability(double assumed, std::size_t shown, std::size_t confirmed);

}  // namespace bench
