#include "runner/hardware/collective_limits.h"

#include <fmt/format.h>

#include "core/fields.h"
#include "core/text.h"
#include "runner/hardware/copy_limits.h"

namespace bench {
namespace {

constexpr int kMostRanks = 1 << 24;

/// (n-1)/n: the share of the data that is not already where it belongs.
double moving_share(int n) { return n > 0 ? static_cast<double>(n - 1) / n : 1.0; }

std::string rate_text(double value) { return format(value, Unit::byte_per_second); }

/// A switch that adds spares each device half of what a ring sends: S instead of 2(n-1)/n S.
bool adds_in_switch(const HardwareEntry& entry, const CollectivePath& path) {
  if (path.op != "all_reduce" || path.algorithm == "ring") return false;
  return path.algorithm == "nvls" || (entry.link && entry.link->reduces_in_switch);
}

Limit in_switch(const Limit& link, const CollectivePath& path) {
  const double value = busbw_factor(path) * link.value;
  return {value, link.kind,
          fmt::format("reduced in the switch: each device sends its S bytes once, so S/t <= {}; "
                      "busbw = 2(n-1)/n S/t <= {} ({})",
                      rate_text(link.value), rate_text(value), link.source)};
}

/// Inside a node of g devices all_reduce takes 2(g-1)/g S of each device's links, be it a ring or
/// the inner step of a hierarchy; every other operation makes some device take (n-1)/n S or more.
Limit over_links(const Limit& link, const CollectivePath& path) {
  const int inside = path.nodes > 1 ? path.ranks / path.nodes : path.ranks;
  if (path.nodes == 1 || path.op != "all_reduce" || inside < 2)
    return {link.value, link.kind, "busbw <= the device's links: " + link.source};
  const double value = moving_share(path.ranks) / moving_share(inside) * link.value;
  return {value, LimitKind::datasheet,
          fmt::format("inside a node of {}: 2({}-1)/{} S over {}; busbw <= {} ({})", inside, inside,
                      inside, rate_text(link.value), rate_text(value), link.source)};
}

/// What one byte of busbw costs the cards of a node: busbw <= this x their rate.
double between_nodes_factor(const CollectivePath& path) {
  const double spread = moving_share(path.ranks) / moving_share(path.nodes);
  if (path.op == "all_reduce" && path.reduces_in_network) return busbw_factor(path);
  if (path.op == "all_reduce" || path.op == "all_gather" || path.op == "reduce_scatter")
    return spread;
  if (path.op == "all_to_all" && path.ranks >= path.nodes)
    return spread / (static_cast<double>(path.ranks) / path.nodes);
  return 1.0;
}

}  // namespace

CollectivePath collective_path(const Json& params) {
  CollectivePath path;
  std::int64_t count = 0;
  const auto integer = [&](const char* key) {
    return params.contains(key) && read_integer(params[key], 1, kMostRanks, count);
  };
  const auto word = [&](const char* key, std::string& value) {
    if (params.contains(key) && params[key].is_string()) value = params[key].get<std::string>();
  };
  word("op", path.op);
  word("algorithm", path.algorithm);
  if (integer("ranks")) path.ranks = static_cast<int>(count);
  if (integer("nodes")) path.nodes = static_cast<int>(count);
  if (integer("nics_per_node")) path.nics_per_node = static_cast<int>(count);
  if (params.contains("nic_bytes_per_second") && params["nic_bytes_per_second"].is_number() &&
      params["nic_bytes_per_second"] > 0.0)
    path.nic_bytes_per_second = params["nic_bytes_per_second"].get<double>();
  path.reduces_in_network =
      params.contains("reduces_in_network") && params["reduces_in_network"] == true;
  return path;
}

double busbw_factor(const CollectivePath& path) {
  if (path.op == "all_reduce") return 2.0 * moving_share(path.ranks);
  const bool spreads =
      path.op == "all_gather" || path.op == "reduce_scatter" || path.op == "all_to_all";
  return spreads ? moving_share(path.ranks) : 1.0;
}

std::optional<Limit> between_nodes_limit(const CollectivePath& path) {
  if (path.nodes < 2 || !path.nics_per_node || !path.nic_bytes_per_second) return {};
  const double cards = *path.nics_per_node * *path.nic_bytes_per_second;
  const double value = between_nodes_factor(path) * cards;
  return Limit{
      value, LimitKind::datasheet,
      fmt::format("between {} nodes: {} cards x {} = {} a node and direction; {}{} leaves "
                  "busbw <= {}",
                  path.nodes, *path.nics_per_node, rate_text(*path.nic_bytes_per_second),
                  rate_text(cards), path.op,
                  path.reduces_in_network ? " reduced in the network" : "", rate_text(value))};
}

std::optional<Limit> busbw_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                 const CollectivePath& path) {
  const auto between = between_nodes_limit(path);
  // A device may feed its own card in addition to its links, so without the cards there is no
  // limit.
  if (path.nodes > 1 && path.op != "all_reduce" && !between) return {};
  auto link = device_link_limit(entry, facts);
  if (!link || path.ranks == 1) return between;
  if (path.nodes > 1) link->kind = LimitKind::datasheet;  // it follows from the algorithm too
  const Limit inside =
      adds_in_switch(entry, path) ? in_switch(*link, path) : over_links(*link, path);
  return between && between->value < inside.value ? *between : inside;
}

std::optional<Limit> algbw_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                 const CollectivePath& path) {
  auto limit = busbw_limit(entry, facts, path);
  if (!limit || !(busbw_factor(path) > 0.0)) return {};
  limit->value /= busbw_factor(path);
  limit->source += fmt::format("; algbw = busbw / {:.4g}", busbw_factor(path));
  return limit;
}

std::optional<Limit> nic_limit(const Json& params) {
  const CollectivePath path = collective_path(params);
  if (!path.nic_bytes_per_second) return {};
  return Limit{*path.nic_bytes_per_second, LimitKind::datasheet,
               "one card: " + rate_text(*path.nic_bytes_per_second) + " one way"};
}

}  // namespace bench
