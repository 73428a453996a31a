// Run-to-run variation without known changes, from runs on neither side of a comparison.
#pragma once

#include <map>

#include "results/compare/compare.h"
#include "results/history/history.h"

namespace bench {

/// Whether some metric has one run on a side for each unit: only then history is worth reading.
bool needs_run_noise(const Side& a, const Side& b);

/// The standard deviation of logarithms inside each unit, pooled over units, of the newest runs
/// that began before the last of either side and are on none of them. A change among them makes the
/// noise larger, and verdicts rarer.
std::map<MetricKey, RunNoise> run_noise(const Histories& histories, const Side& a, const Side& b);

}  // namespace bench
