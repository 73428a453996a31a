// Units as other tools write them.
#pragma once

#include <optional>
#include <string_view>

#include "core/units.h"

namespace bench {

struct StatedUnit {
  Unit unit;
  double factor;  // value in base units = stated value x factor
  Better better;  // what is usual for it; a tool may say otherwise
};

/// "GB/s", "MiB/s", "MBytes/sec", "us", "msec", "GFLOPS", "TFLOP/s", "%", "IOPS", "MHz", ...; upper
/// and lower case count only where they tell bits from bytes. Nothing for a unit that is unknown,
/// and for bits, whose tools disagree on what they count.
std::optional<StatedUnit> stated_unit(std::string_view text);

}  // namespace bench
