// One series of the probe `storage`: a load on every rank at once, what it comes to over all of
// them, and what is written of it.
#pragma once

#include <string>
#include <vector>

#include "probes/state.h"
#include "probes/storage/file_load.h"
#include "probes/storage/pitfalls.h"

namespace bench {

struct StorageSeries {
  std::string path;     // as it was given: another storage is another series
  std::string pattern;  // "random_read"
  storage::LoadRequest load;

  Json params() const;
};

/// The quantiles that are told of latencies, and how they are called.
struct NamedQuantile {
  const char* name;
  double q;
};
inline constexpr NamedQuantile kQuantiles[] = {
    {"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}};

/// Writes `latency` once for each quantile. The histogram is that of all ranks.
void write_latencies(State& state, const Json& params, const storage::LatencyHistogram& latency);

/// Runs it on all ranks and writes its series. Pitfalls seen are added, with the series they were
/// seen in. Throws Error(environment) on all ranks.
void measure_load(State& state, const StorageSeries& series,
                  const storage::FileSystemFacts& file_system,
                  std::vector<storage::Pitfall>& pitfalls);

}  // namespace bench
