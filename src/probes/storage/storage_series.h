// One series of the probe `storage`: a load on every rank at once, what it comes to over all of
// them, and what is written of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "devices/group.h"
#include "probes/state.h"
#include "probes/storage/file_load.h"
#include "probes/storage/pitfalls.h"

namespace bench::storage {

// What the ranks of each host had of a load that all of them ran at once: a sum over hosts hides
// the one that got little of it.

struct HostLoad {
  std::string host = {};  // as it calls itself
  int ranks = 0;
  double rate = 0.0;  // bytes per second, the sum of its ranks, each by its own time
};

/// At rank 0, hosts in the order of their first ranks; empty elsewhere. Every rank calls it with
/// its own result and the name of its host.
std::vector<HostLoad> loads_of_hosts(Group& group, const LoadResult& own, const std::string& host);

/// slow_host: the slowest host, where a rank of it got less than four fifths of what one of the
/// median host got.
std::optional<Pitfall> slow_host(std::span<const HostLoad> hosts);

}  // namespace bench::storage

namespace bench {

struct StorageSeries {
  std::string path;     // as it was given: another storage is another series
  std::string pattern;  // "random_read"
  storage::LoadRequest load;

  Json params() const;
};

/// Writes `latency` once for each of p50, p99, p99.9 and max. The histogram is that of all ranks.
void write_latencies(State& state, const Json& params, const storage::LatencyHistogram& latency);

/// Runs it on all ranks and writes its series. Pitfalls seen are added, with the series they were
/// seen in. Throws Error(environment) on all ranks.
void measure_load(State& state, const StorageSeries& series,
                  const storage::FileSystemFacts& file_system,
                  std::vector<storage::Pitfall>& pitfalls);

}  // namespace bench
