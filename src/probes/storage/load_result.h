// What a load on threads and ranks at once came to, whatever it moves: files or objects. Added up
// over threads and ranks, as rates, and as records.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/units.h"
#include "devices/group.h"
#include "probes/state.h"
#include "probes/storage/latency_histogram.h"
#include "probes/storage/pitfalls.h"

namespace bench::storage {

struct LoadResult {
  /// Bytes in each slice of time since the start; the last slices may lack work. Written bytes
  /// count when they are durable.
  std::vector<double> slice_bytes;
  LatencyHistogram latency;  // of single operations
  double bytes = 0.0;
  double operations = 0.0;
  Seconds wall = {};              // until the last operation ended
  Seconds all_busy = {};          // until the first thread ended
  Seconds first_pass = {};        // when the size of all data was reached; 0: it was not
  std::int64_t wrong_blocks = 0;  // read, and different from what was written
  Seconds cpu = {};               // of all threads
};

/// Calls `work(thread, start)` on so many threads, which begin together at `start`. When all have
/// ended, throws what the first of them that failed has thrown.
void run_at_once(int threads, const std::function<void(int thread, Seconds start)>& work);

/// The results of threads, or of all ranks, as if they were one. Slices end with the first thread,
/// or rank, that did.
LoadResult over_threads(std::span<const LoadResult> threads);
LoadResult over_ranks(Group& group, LoadResult own, Seconds slice);

/// Adds an amount to the slices between two times, in proportion to what of that time is in each.
void spread(std::vector<double>& slices, Seconds slice, Seconds begin, Seconds end, double amount);

/// Bytes per second: of each slice; of the whole if there are few slices, or if bytes count in
/// lumps.
std::vector<double> rates(const LoadResult& result, Seconds slice, bool lumps);

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

/// Writes `host_bandwidth` once for each host if there are several.
void write_hosts(const JudgedSeries& judged, Json params, const std::vector<HostLoad>& hosts);

/// Rates are those of each twentieth of the time of a series.
inline constexpr double kSlices = 20.0;

using Quantile = std::pair<const char*, double>;
/// Writes the metric once for each quantile, which is its parameter `quantile`. The histogram is
/// that of all ranks.
void write_quantiles(const JudgedSeries& judged, const std::string& metric, Json params,
                     const LatencyHistogram& latency, std::span<const Quantile> quantiles);
/// Writes `metric` once for each of p50, p99, p99.9 and max. The histogram is that of all ranks.
void write_latencies(const JudgedSeries& judged, const Json& params,
                     const LatencyHistogram& latency, const std::string& metric = "latency");

/// Writes `wrong_blocks`, of which one makes the series invalid.
void write_wrong_blocks(State& state, const Json& params, const LoadResult& all);

}  // namespace bench::storage
