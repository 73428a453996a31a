// JSON of `benchctl list hardware --json`.
#pragma once

#include "runner/hardware/hardware_catalogue.h"

namespace bench {

/// One product in short, in base units; null where unknown.
Json hardware_summary(const HardwareEntry& entry);
/// The file with added `limits`, `findings` and `contradictions`.
Json hardware_document(const HardwareCatalogue& catalogue, const HardwareEntry& entry);

}  // namespace bench
