// Telemetry of hosts and GPUs during a case: one line per series, or one for all if there are many.
#pragma once

#include <string>

#include "results/reports/dimensions.h"
#include "results/reports/text_style.h"

namespace bench {

/// "" without telemetry. Yellow if heat or hardware throttled a clock; a power cap is normal at
/// full load.
std::string telemetry_text(const Rows& rows, std::size_t indent, const TextStyle& style);

}  // namespace bench
