// Hardware error counters of a host during a job, with the bytes transferred on the same paths: two
// readings, at the beginning and end of the job, so that it is not disturbed.
#pragma once

#include <vector>

#include "core/json.h"
#include "core/system_files.h"
#include "devices/counters/counter_source.h"
#include "devices/counters/recorder.h"

namespace bench {

/// The sources that count errors, or the bytes that errors are related to.
CounterSources error_sources(CounterSources all);

/// {"seconds", "counters": {source: {column: growth}}, "gauges": {source: {column: last value}},
/// "broken": {source: {column: number of unknown intervals}}}. The growth is null if it is entirely
/// unknown because the counter was reset, vanished or is saturated.
Json counter_totals(const std::vector<Recording>& recordings, double seconds);

/// Removes counters that did not grow, and bytes below 1 MiB: large fleets have thousands of such
/// jobs.
void drop_idle(Json& totals);

// Null if the machine has none.
// Memory controllers (EDAC): corrected and uncorrected errors.
std::unique_ptr<CounterSource> memory_error_counters(const SystemFiles& files);
/// PCIe links (AER) of devices that compute, store or communicate.
std::unique_ptr<CounterSource> pcie_error_counters(const SystemFiles& files);
/// Processors: machine check exceptions and thermal throttling events.
std::unique_ptr<CounterSource> cpu_error_counters(const SystemFiles& files);

}  // namespace bench
