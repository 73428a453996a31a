// Units as other tools write them.
#pragma once

#include <optional>
#include <string_view>

#include "core/units.h"

namespace bench {

struct StatedUnit {
  Unit unit;
  double factor;  // value in base units = stated value x factor
  Better better;  // the usual direction; a tool may state another
};

/// "GB/s", "MiB/s", "MBytes/sec", "us", "msec", "GFLOPS", "TFLOP/s", "%", "IOPS", "MHz", ...; case
/// matters only to distinguish bits from bytes. Nothing for unknown units, and for bits, which
/// tools count differently.
std::optional<StatedUnit> stated_unit(std::string_view text);

}  // namespace bench
