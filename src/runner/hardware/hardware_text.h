// The hardware catalogue for people: a table of products, and everything known of one with its
// limits, how they are derived, and what others reported.
#pragma once

#include <string>

#include "runner/hardware/hardware_catalogue.h"

namespace bench {

std::string hardware_table(const HardwareCatalogue& catalogue);
std::string hardware_details(const HardwareCatalogue& catalogue, const HardwareEntry& entry);

}  // namespace bench
