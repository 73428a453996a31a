// The plausible range of a metric on a product. Part of plausibility.
#pragma once

#include <optional>

#include "core/units.h"
#include "runner/hardware/hardware_limits.h"
#include "runner/hardware/plausibility.h"

namespace bench {

struct PlausibleRange {
  Limit limit;
  double lowest = 0.0;   // a healthy device at full size does more
  double highest = 0.0;  // above this is impossible
  bool link = false;     // bounded by a link: bits, both directions and line rates are confused
};

/// Nothing where the product's limit for the metric is not known.
std::optional<PlausibleRange> plausible_range(const HardwareEntry& entry,
                                              const Threshold& threshold);
Unit unit_of(const Threshold& threshold);

}  // namespace bench
