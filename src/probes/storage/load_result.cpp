#include "probes/storage/load_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <latch>
#include <thread>
#include <utility>

#include "core/json.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "devices/host_clock.h"

namespace bench::storage {
namespace {

constexpr double kMuchLess = 0.8;
constexpr std::size_t kFewestForRates = 3;

HostLoad& entry_of(std::vector<HostLoad>& hosts, const std::string& name) {
  const auto known = std::ranges::find(hosts, name, &HostLoad::host);
  return known != hosts.end() ? *known : hosts.emplace_back(HostLoad{.host = name});
}

double rate_a_rank(const HostLoad& host) { return host.rate / host.ranks; }

}  // namespace

void run_at_once(int threads, const std::function<void(int thread, Seconds start)>& work) {
  std::latch ready(threads + 1), go(1);
  Seconds start;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread)
      running.emplace_back([&, thread]() noexcept {
        ready.count_down();
        go.wait();
        try {
          work(thread, start);
        } catch (...) {
          failures[static_cast<std::size_t>(thread)] = std::current_exception();
        }
      });
    ready.arrive_and_wait();
    start = steady_now();
    go.count_down();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

LoadResult over_threads(std::span<const LoadResult> threads) {
  LoadResult all;
  bool passed = true;
  for (const LoadResult& one : threads) {
    all.slice_bytes.resize(std::max(all.slice_bytes.size(), one.slice_bytes.size()));
    for (std::size_t i = 0; i < one.slice_bytes.size(); ++i)
      all.slice_bytes[i] += one.slice_bytes[i];
    all.latency.add(one.latency);
    all.bytes += one.bytes;
    all.operations += one.operations;
    all.all_busy = &one == threads.data() ? one.wall : std::min(all.all_busy, one.wall);
    all.wall = std::max(all.wall, one.wall);
    all.wrong_blocks += one.wrong_blocks;
    all.cpu += one.cpu;
    all.first_pass = std::max(all.first_pass, one.first_pass);
    passed = passed && one.first_pass.value > 0.0;
  }
  if (!passed) all.first_pass = {};
  return all;
}

LoadResult over_ranks(Group& group, LoadResult own, Seconds slice) {
  own.all_busy = {least(group, own.all_busy.value)};
  const auto slices = static_cast<std::size_t>(
      std::floor(own.all_busy.value / slice.value + 1e-9));  // of whole slices
  own.slice_bytes.resize(slices);
  if (slices > 0) group.sum(own.slice_bytes);
  group.sum(own.latency.counts());
  own.bytes = total(group, own.bytes);
  own.operations = total(group, own.operations);
  own.wall = {largest(group, own.wall.value)};
  const bool passed = largest(group, own.first_pass.value > 0.0 ? 0.0 : 1.0) == 0.0;
  own.first_pass = {passed ? largest(group, own.first_pass.value) : 0.0};
  own.wrong_blocks = static_cast<std::int64_t>(total(group, static_cast<double>(own.wrong_blocks)));
  own.cpu = {total(group, own.cpu.value)};
  return own;
}

void spread(std::vector<double>& slices, Seconds slice, Seconds begin, Seconds end, double amount) {
  const double width = slice.value, length = (end - begin).value;
  const auto first = static_cast<std::size_t>(begin.value / width);
  const auto last = static_cast<std::size_t>(end.value / width);
  if (last >= slices.size()) slices.resize(last + 1);
  if (first == last) {
    slices[last] += amount;
    return;
  }
  for (std::size_t i = first; i <= last; ++i) {
    const double from = std::max(begin.value, static_cast<double>(i) * width);
    const double to = std::min(end.value, static_cast<double>(i + 1) * width);
    slices[i] += amount * std::max(0.0, to - from) / length;
  }
}

std::vector<double> rates(const LoadResult& result, Seconds slice, bool lumps) {
  if (lumps || result.slice_bytes.size() < kFewestForRates)
    return {result.bytes / result.wall.value};
  std::vector<double> values = result.slice_bytes;
  for (double& value : values) value /= slice.value;
  return values;
}

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

void write_hosts(const JudgedSeries& judged, Json params, const std::vector<HostLoad>& hosts) {
  if (hosts.size() < 2) return;
  for (const HostLoad& one : hosts) {
    params["of_host"] = one.host;
    params["of_ranks"] = one.ranks;
    judged.value("host_bandwidth", one.rate, params);
  }
}

void write_quantiles(const JudgedSeries& judged, const std::string& metric, Json params,
                     const LatencyHistogram& latency, std::span<const Quantile> quantiles) {
  for (const auto& [name, share] : quantiles) {
    params["quantile"] = name;
    judged.value(metric, latency.quantile(share).value, params);
  }
}

void write_latencies(const JudgedSeries& judged, const Json& params,
                     const LatencyHistogram& latency, const std::string& metric) {
  constexpr Quantile kQuantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}};
  write_quantiles(judged, metric, params, latency, kQuantiles);
}

void write_wrong_blocks(State& state, const Json& params, const LoadResult& all) {
  const auto wrong = static_cast<double>(all.wrong_blocks);
  state.value("wrong_blocks", wrong, params, {},
              Check{"number and checksum in each block", wrong, 0.0});
}

}  // namespace bench::storage
