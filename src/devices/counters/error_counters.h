// What went wrong on a host while a job ran, as its hardware counts it, with the bytes that moved
// on the same paths: two readings, at the job's beginning and end, so it costs the job nothing.
#pragma once

#include <vector>

#include "core/json.h"
#include "core/system_files.h"
#include "devices/counters/counter_source.h"
#include "devices/counters/recorder.h"

namespace bench {

/// Those of the sources that count errors or the bytes that errors are held against.
CounterSources error_sources(CounterSources all);

/// {"seconds", "counters": {source: {column: growth}}, "gauges": {source: {column: last value}},
/// "broken": {source: {column: readings between which nothing is known}}}. A growth of null: it
/// could not be told at all, because the counter was reset, vanished or is stuck at its end.
Json counter_totals(const std::vector<Recording>& recordings, double seconds);

/// Leaves out counters that did not grow, and bytes below a mebibyte: who saw them once knows that
/// they are there, and large fleets have thousands of such jobs.
void drop_idle(Json& totals);

// Errors of the machine itself; an empty pointer where it has no such thing.
/// Of memory controllers (EDAC): corrected and uncorrected.
std::unique_ptr<CounterSource> memory_error_counters(const SystemFiles& files);
/// Of PCIe links, as devices that compute, store or communicate report them (AER).
std::unique_ptr<CounterSource> pcie_error_counters(const SystemFiles& files);
/// Of processors: machine check exceptions, and how often heat held a core down.
std::unique_ptr<CounterSource> cpu_error_counters(const SystemFiles& files);

}  // namespace bench
