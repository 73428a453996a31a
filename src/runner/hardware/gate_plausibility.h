// Checks the thresholds of a suite's gates against the hardware catalogue before anything runs.
#pragma once

#include <vector>

#include "runner/hardware/plausibility.h"
#include "runner/hosts/inventory.h"
#include "runner/plan/suite.h"

namespace bench {

/// Each text begins with the suite's file and the gate's JSON pointer. The product is that of the
/// hosts' label "hardware"; without one, only what is implausible for every product is found.
std::vector<Finding> implausible_gates(const Suite& suite, const Inventory& inventory,
                                       const HardwareCatalogue& catalogue);

}  // namespace bench
