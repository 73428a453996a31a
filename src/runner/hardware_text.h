// The hardware catalogue for people and for scripts: a table of products, and everything known of
// one with its limits, how they are derived, and what others reported.
#pragma once

#include <string>

#include "runner/hardware_catalogue.h"

namespace bench {

std::string hardware_table(const HardwareCatalogue& catalogue);
std::string hardware_details(const HardwareCatalogue& catalogue, const HardwareEntry& entry);

/// The row of the table, in base units; null where unknown.
Json hardware_summary(const HardwareEntry& entry);
/// The file, with `limits` and `findings` beside it.
Json hardware_document(const HardwareCatalogue& catalogue, const HardwareEntry& entry);

}  // namespace bench
