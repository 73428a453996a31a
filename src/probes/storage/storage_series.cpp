#include "probes/storage/storage_series.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "core/json.h"
#include "core/text.h"
#include "probes/storage/work_folder.h"

namespace bench::storage {
namespace {

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
  const LoadResult all = over_ranks(group, std::move(own), load.slice);

  const Json params = series.params();
  std::vector<double> bandwidth = rates(all, load.slice, load.sync_every > 1);
  std::vector<double> operations = bandwidth;
  for (double& value : operations) value /= static_cast<double>(load.block_bytes);
  const std::string over = group.size() > 1 ? "sum" : "rank";
  const JudgedSeries judged = state.under(conditions);
  judged.values("bandwidth", std::move(bandwidth), params, over);
  judged.values("iops", std::move(operations), params, over);
  write_hosts(judged, params, hosts);
  write_latencies(judged, params, all.latency);
  if (load.direction == Direction::read) write_wrong_blocks(state, params, all);

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
