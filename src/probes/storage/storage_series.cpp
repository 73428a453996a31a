#include "probes/storage/storage_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "core/json.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "probes/storage/checkpoint_round.h"
#include "probes/storage/work_folder.h"

namespace bench::storage {
namespace {

constexpr double kMuchLess = 0.8;

HostLoad& entry_of(std::vector<HostLoad>& hosts, const std::string& name) {
  const auto known = std::ranges::find(hosts, name, &HostLoad::host);
  return known != hosts.end() ? *known : hosts.emplace_back(HostLoad{.host = name});
}

double rate_a_rank(const HostLoad& host) { return host.rate / host.ranks; }

}  // namespace

std::vector<HostLoad> loads_of_hosts(Group& group, const LoadResult& own, const std::string& host) {
  const Json mine = {{"host", host}, {"rate", own.bytes / own.wall.value}};
  std::vector<HostLoad> hosts;
  for (const Json& rank : gather_json(group, mine)) {
    HostLoad& entry = entry_of(hosts, rank.at("host").get<std::string>());
    ++entry.ranks;
    entry.rate += rank.at("rate").get<double>();
  }
  return hosts;
}

std::optional<Pitfall> slow_host(std::span<const HostLoad> hosts) {
  if (hosts.size() < 2) return {};
  std::vector<double> rates;
  for (const HostLoad& host : hosts) rates.push_back(rate_a_rank(host));
  const double middle = median(rates);
  const HostLoad& slowest = *std::ranges::min_element(hosts, {}, rate_a_rank);
  const double share = rate_a_rank(slowest) / middle;
  if (!(share < kMuchLess)) return {};
  return Pitfall{"slow_host", fmt::format("a rank of {} got {} of the bandwidth of a rank of the "
                                          "median of {} hosts at the same time; the sum hides this",
                                          slowest.host, format(share, Unit::ratio), hosts.size())};
}

LoadResult over_ranks(Group& group, LoadResult own, Seconds slice) {
  const double shortest = least(group, own.wall.value);
  const auto slices = static_cast<std::size_t>(std::floor(shortest / slice.value + 1e-9));
  own.slice_bytes.resize(slices);
  if (slices > 0) group.sum(own.slice_bytes);
  group.sum(own.latency.counts());
  own.bytes = total(group, own.bytes);
  own.operations = total(group, own.operations);
  own.wall = {largest(group, own.wall.value)};
  const bool passed = largest(group, own.first_pass.value > 0.0 ? 0.0 : 1.0) == 0.0;
  own.first_pass = {passed ? largest(group, own.first_pass.value) : 0.0};
  own.wrong_blocks = static_cast<std::int64_t>(total(group, static_cast<double>(own.wrong_blocks)));
  return own;
}

void write_hosts(const JudgedSeries& judged, Json params, const std::vector<HostLoad>& hosts) {
  if (hosts.size() < 2) return;
  for (const HostLoad& one : hosts) {
    params["of_host"] = one.host;
    params["of_ranks"] = one.ranks;
    judged.value("host_bandwidth", one.rate, params);
  }
}

namespace {

constexpr std::size_t kFewestForRates = 3;

/// Bytes per second: of each slice; of the whole if bytes count in lumps, when a sync returns, or
/// if there are few slices.
std::vector<double> rates(const LoadResult& result, const LoadRequest& load) {
  if (load.sync_every > 1 || result.slice_bytes.size() < kFewestForRates)
    return {result.bytes / result.wall.value};
  std::vector<double> values = result.slice_bytes;
  for (double& value : values) value /= load.slice.value;
  return values;
}

std::optional<Pitfall> seen_below(Group& group, const LoadResult& all, const LoadRequest& load) {
  if (load.direction != Direction::read || !(all.first_pass.value > 0.0)) return {};
  const double once = static_cast<double>(load.file_bytes) * group.size();
  const double later_time = (all.wall - all.first_pass).value;
  // A short part of a second pass is no evidence.
  if (later_time < 2.0 * load.slice.value) return {};
  return cache_beneath(once / all.first_pass.value, (all.bytes - once) / later_time);
}

std::string in_words(const StorageSeries& series) {
  return fmt::format("{} of {}, {}, {} x {} in flight", series.pattern,
                     format(Bytes{static_cast<double>(series.load.block_bytes)}),
                     kAccesses.name(series.load.access), series.load.threads, series.load.depth);
}

}  // namespace

Json StorageSeries::params() const {
  Json all = {{"path", path},
              {"pattern", pattern},
              {"access", kAccesses.name(load.access)},
              {"block_bytes", load.block_bytes},
              {"threads", load.threads},
              {"depth", load.depth}};
  if (load.sync_every > 0) all["sync_every"] = load.sync_every;
  return all;
}

void write_quantiles(const JudgedSeries& judged, const std::string& metric, Json params,
                     const LatencyHistogram& latency, std::span<const Quantile> quantiles) {
  for (const auto& [name, share] : quantiles) {
    params["quantile"] = name;
    judged.value(metric, latency.quantile(share).value, params);
  }
}

void write_latencies(const JudgedSeries& judged, const Json& params,
                     const LatencyHistogram& latency) {
  constexpr Quantile kQuantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}};
  write_quantiles(judged, "latency", params, latency, kQuantiles);
}

void measure_load(State& state, const StorageSeries& series, const FileSystemFacts& file_system,
                  std::vector<Pitfall>& pitfalls) {
  Group& group = state.group();
  const LoadRequest& load = series.load;
  std::unique_ptr<FileLoad> ready;
  together(group, [&] { ready = std::make_unique<FileLoad>(load); });
  const auto before = traffic_of(file_system);
  LoadResult own;
  group.barrier();
  const Conditions conditions = watched(state.device(), group, Worker::threads,
                                        [&] { together(group, [&] { own = ready->run(); }); });
  const auto after = traffic_of(file_system);
  const std::vector<HostLoad> hosts = loads_of_hosts(group, own, this_host());
  LoadResult all = over_ranks(group, std::move(own), load.slice);

  const Json params = series.params();
  std::vector<double> bandwidth = rates(all, load);
  std::vector<double> operations = bandwidth;
  for (double& value : operations) value /= static_cast<double>(load.block_bytes);
  const std::string over = group.size() > 1 ? "sum" : "rank";
  const JudgedSeries judged = state.under(conditions);
  judged.values("bandwidth", std::move(bandwidth), params, over);
  judged.values("iops", std::move(operations), params, over);
  write_hosts(judged, params, hosts);
  write_latencies(judged, params, all.latency);
  if (load.direction == Direction::read)
    state.value(
        "wrong_blocks", static_cast<double>(all.wrong_blocks), params, {},
        Check{"number and checksum in each block", static_cast<double>(all.wrong_blocks), 0.0});

  const auto note = [&](std::optional<Pitfall> seen) {
    if (seen) pitfalls.push_back({seen->name, in_words(series) + ": " + seen->text});
  };
  note(slow_host(hosts));
  if (!file_system.memory) note(seen_below(group, all, load));
  if (load.direction == Direction::write && load.sync_every <= 1)
    note(burst_cliff(all.slice_bytes));
  // Ranks of one host would see each other's bytes.
  if (load.direction == Direction::read && group.size() == 1 && before && after)
    note(not_from_device(all.bytes, after->read - before->read));
}

}  // namespace bench::storage
