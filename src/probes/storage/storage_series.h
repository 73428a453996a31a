// One series of the probe `storage`: a load on all ranks at once, its total and its records.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "devices/group.h"
#include "probes/state.h"
#include "probes/storage/file_load.h"
#include "probes/storage/pitfalls.h"

namespace bench::storage {

/// The share of a host in a load of all ranks: a sum over hosts hides a slow one.
struct HostLoad {
  std::string host = {};
  int ranks = 0;
  double rate = 0.0;  // bytes per second, the sum of its ranks, each by its own time
};

/// At rank 0, hosts in the order of their first ranks; empty elsewhere. Every rank calls it with
/// its own result and host name.
std::vector<HostLoad> loads_of_hosts(Group& group, const LoadResult& own, const std::string& host);

/// slow_host: a rank of the slowest host got less than four fifths of the bandwidth of a rank of
/// the median host.
std::optional<Pitfall> slow_host(std::span<const HostLoad> hosts);

/// The result of all ranks as if they were one, on every rank; slices that all of them completed.
LoadResult over_ranks(Group& group, LoadResult own, Seconds slice);

/// Writes `host_bandwidth` once per host, if there are several. Only rank 0 knows them.
void write_hosts(const JudgedSeries& judged, Json params, const std::vector<HostLoad>& hosts);

struct StorageSeries {
  std::string path;     // as given: another storage is another series
  std::string pattern;  // "random_read"
  LoadRequest load;

  Json params() const;
};

/// Rates are those of each twentieth of the time of a series.
inline constexpr double kSlices = 20.0;

using Quantile = std::pair<const char*, double>;
/// Writes the metric once for each quantile, which is its parameter `quantile`. The histogram is
/// that of all ranks.
void write_quantiles(const JudgedSeries& judged, const std::string& metric, Json params,
                     const LatencyHistogram& latency, std::span<const Quantile> quantiles);

/// `latency` of p50, p99, p99.9 and max.
void write_latencies(const JudgedSeries& judged, const Json& params,
                     const LatencyHistogram& latency);

/// Runs the load on all ranks and reports its series. Adds the pitfalls that were detected, with
/// the series they affect. Throws Error(environment) on all ranks.
void measure_load(State& state, const StorageSeries& series, const FileSystemFacts& file_system,
                  std::vector<Pitfall>& pitfalls);

}  // namespace bench::storage
