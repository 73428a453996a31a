// What host and GPUs did while a case was measured, in a line for each of its series, or one for
// all where there are many.
#pragma once

#include <string>

#include "results/reports/dimensions.h"
#include "results/reports/text_style.h"

namespace bench {

/// "" where no result has telemetry. Yellow where heat or the hardware held a clock down; a power
/// cap is normal at full load and only told.
std::string telemetry_text(const Rows& rows, std::size_t indent, const TextStyle& style);

}  // namespace bench
