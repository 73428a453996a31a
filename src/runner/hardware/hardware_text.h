// Text of `benchctl list hardware`: a table of products, or details of one with its limits, their
// derivation and published results.
#pragma once

#include <string>
#include <vector>

#include "runner/hardware/hardware_catalogue.h"
#include "runner/hardware/plausibility.h"

namespace bench {

/// Checks what the schema cannot: whether the facts of a hardware file agree with each other and
/// with the reported values. Each text begins with the file's name and the place in it. Reported
/// values that the file itself doubts are not judged.
std::vector<Finding> check_hardware(const HardwareCatalogue& catalogue, const HardwareEntry& entry);

/// Thresholds of one project (its name ends at the comma of `source`) that contradict each other.
/// They are no fault of the file.
std::vector<Finding> contradictions_in(const HardwareEntry& entry);

/// A reported value as a threshold.
Threshold threshold_from(const HardwareEntry& entry, const ReportedValue& reported);

// JSON of `benchctl list hardware --json`.

/// A summary of one product, in base units; null where unknown.
Json hardware_summary(const HardwareEntry& entry);
/// The file with added `limits`, `findings` and `contradictions`.
Json hardware_document(const HardwareCatalogue& catalogue, const HardwareEntry& entry);

std::string hardware_table(const HardwareCatalogue& catalogue);
std::string hardware_details(const HardwareCatalogue& catalogue, const HardwareEntry& entry);

}  // namespace bench
