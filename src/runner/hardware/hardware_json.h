// The hardware catalogue for scripts: what `benchctl list hardware --json` says.
#pragma once

#include "runner/hardware/hardware_catalogue.h"

namespace bench {

/// One product in short, in base units; null where unknown.
Json hardware_summary(const HardwareEntry& entry);
/// The file, with `limits`, `findings` and `contradictions` beside it.
Json hardware_document(const HardwareCatalogue& catalogue, const HardwareEntry& entry);

}  // namespace bench
