// Finds typical errors in thresholds, as published acceptance tests have them: a wrong unit, an
// extra digit, a sparse peak, more than a link carries, another product's number. It judges no
// measurement: a finding is a warning to the author of the threshold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "runner/hardware/hardware_catalogue.h"
#include "runner/hardware/hardware_limits.h"

namespace bench {

enum class FindingKind {
  unit,           // a prefix, or bits for bytes
  power_of_ten,   // a digit too many or too few
  sparse,         // counted with structured sparsity
  above_link,     // more than the link or the network carries
  other_product,  // fits another product and not this one
  above_peak,     // more than the device can do
  too_low,        // a broken device would pass
  contradiction   // two numbers for the same thing
};
std::string_view to_string(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::unit;
  std::string text;  // the value, the probable error, and a plausible value
};

/// A minimum for a metric for which higher is better, or a reported measurement.
struct Threshold {
  std::string metric;  // "collective.busbw"
  Json params = Json::object();
  double value = 0.0;        // in the metric's base unit
  std::string product = {};  // of the catalogue, or a family ("h100"); empty: any
  /// False if it also applies to small sizes, whose rates may be arbitrarily low.
  bool at_full_size = true;
  std::string source = {};  // its author; for contradictions
};

/// Empty if the value is plausible for any product that it may be meant for, or no limit is known.
std::optional<Finding> check_threshold(const HardwareCatalogue& catalogue,
                                       const Threshold& threshold);

/// A share of the limit that a gate demands: 0.95, not 95.
std::optional<Finding> check_share(double min_of_limit);

/// Different values for the same metric, parameters and product.
std::vector<Finding> contradictions(const std::vector<Threshold>& thresholds);

/// Of a metric on a product.
struct PlausibleRange {
  Limit limit;
  double lowest = 0.0;   // a healthy device at full size does more
  double highest = 0.0;  // above this is impossible
  bool link = false;     // bounded by a link: bits, both directions and line rates are confused
};

/// Empty if the product's limit for the metric is unknown.
std::optional<PlausibleRange> plausible_range(const HardwareEntry& entry,
                                              const Threshold& threshold);
Unit unit_of(const Threshold& threshold);

}  // namespace bench
