#include "probes/storage/host_loads.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json.h"
#include "core/order_statistics.h"
#include "core/text.h"

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
  for (const std::string& text : group.gather(dump(mine))) {
    const Json rank = parse_json(text, "the load of a rank");
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

}  // namespace bench::storage
