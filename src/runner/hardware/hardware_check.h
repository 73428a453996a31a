// Do the facts of a hardware file agree with each other, and with what is said to have been
// reached? What its schema cannot see.
#pragma once

#include <string>
#include <vector>

#include "runner/hardware/plausibility.h"

namespace bench {

/// Each text begins with the file's name and the place in it. Reported values that the file itself
/// doubts are not judged.
std::vector<Finding> check_hardware(const HardwareCatalogue& catalogue, const HardwareEntry& entry);

/// Thresholds of one project (its name ends at the comma of `source`) that contradict each other.
/// They say nothing against the file.
std::vector<Finding> contradictions_in(const HardwareEntry& entry);

/// A reported value as the threshold it is, or would be.
Threshold threshold_from(const HardwareEntry& entry, const ReportedValue& reported);

}  // namespace bench
