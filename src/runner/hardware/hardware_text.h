// Text of `benchctl list hardware`: a table of products, or details of one with its limits, their
// derivation and published results.
#pragma once

#include <string>

#include "runner/hardware/hardware_catalogue.h"

namespace bench {

std::string hardware_table(const HardwareCatalogue& catalogue);
std::string hardware_details(const HardwareCatalogue& catalogue, const HardwareEntry& entry);

}  // namespace bench
