// Finds the typing error that explains a value outside the plausible range. Part of plausibility.
#pragma once

#include <optional>
#include <string>

#include "runner/hardware/plausible_range.h"

namespace bench {

struct Slip {
  FindingKind kind = FindingKind::unit;
  std::string text;  // what it probably is, and what would be right
};

/// Empty if the value is in range.
std::optional<Slip> find_slip(const HardwareCatalogue& catalogue, const HardwareEntry& entry,
                              const Threshold& threshold, const PlausibleRange& range);

}  // namespace bench
