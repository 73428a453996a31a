#include "runner/hardware/gate_plausibility.h"

#include <algorithm>
#include <set>

#include "core/fields.h"

namespace bench {
namespace {

/// Smaller messages and matrices may be arbitrarily slow.
constexpr double kFullMessage = 256e6;
constexpr int kFullSide = 4096;
constexpr double kFullCopy = 64e6;
constexpr double kFullMemory = 1e9;  // far above any cache

/// Lists of a case that each become a parameter of a series.
const std::map<std::string, std::string> kLists = {
    {"dtypes", "dtype"}, {"ops", "op"}, {"routes", "route"}};

std::set<std::string> products(const Inventory& inventory) {
  std::set<std::string> names;
  for (const auto& host : inventory.hosts) {
    const auto label = host.labels.find("hardware");
    names.insert(label == host.labels.end() ? "" : label->second);
  }
  return names;
}

/// The parameters of the gate's series: one set for each value of a list that it does not fix.
std::vector<Json> series_params(const Case& suite_case, const Json& gate) {
  std::vector<Json> all = {suite_case.params};
  all.front()["ranks"] = suite_case.ranks_per_host;
  all.front().update(gate.value("where", Json::object()));
  for (const auto& [list, name] : kLists) {
    Json values = suite_case.params.value(list, Json());
    if (suite_case.axes.contains(name)) values = suite_case.axes.at(name);
    if (!values.is_array() || values.empty()) continue;
    std::vector<Json> more;
    for (const Json& params : all) {
      if (params.contains(name)) {
        more.push_back(params);
        continue;
      }
      for (const Json& value : values) {
        more.push_back(params);
        more.back()[name] = value;
      }
    }
    all = std::move(more);
  }
  return all;
}

bool at_least(const Json& params, const char* key, double least) {
  return params.contains(key) && params[key].is_number() && params[key].get<double>() >= least;
}

bool full_shapes(const Json& params) {
  const Json shapes = params.value("shapes", Json());
  if (!shapes.is_array() || shapes.empty()) return false;
  return std::ranges::all_of(shapes, [](const Json& shape) {
    return shape.is_array() && std::ranges::all_of(shape, [](const Json& side) {
             return side.is_number() && side.get<double>() >= kFullSide;
           });
  });
}

/// Whether all sizes of the case are at least this. A missing size, or 0, is the probe's full size.
bool full_sizes(const Json& params, double least) {
  if (params.contains("size_bytes")) return at_least(params, "size_bytes", least);
  const Json sizes = params.value("sizes", Json::array());
  return sizes.is_array() && params.value("curve", Json(false)) == false &&
         std::ranges::all_of(sizes, [&](const Json& size) {
           return size == 0 || (size.is_number() && size.get<double>() >= least);
         });
}

/// Pageable memory may be arbitrarily slow.
bool pinned_or_no_host(const Json& params) {
  const Json route = params.value("route", Json());
  const Json memory = params.value("memory", Json());
  return route == "inside" || route == "peer_write" || route == "peer_read" || memory == "pinned" ||
         memory == Json::array({"pinned"});
}

/// Whether all series of the gate have sizes at which a healthy device is near its limit.
bool at_full_size(const std::string& probe, const Json& params) {
  const bool sides = at_least(params, "m", kFullSide) && at_least(params, "n", kFullSide) &&
                     at_least(params, "k", kFullSide);
  if (probe == "gemm") return sides || full_shapes(params);
  if (probe == "copy") return full_sizes(params, kFullCopy) && pinned_or_no_host(params);
  if (probe == "collective")
    return at_least(params, "size_bytes", kFullMessage) ||
           at_least(params, "min_bytes", kFullMessage);
  return full_sizes(params, kFullMemory);
}

/// A cache is faster than the memory whose limit we know.
bool in_a_cache(const std::string& probe, const Json& params) {
  const Json level = params.value("level", Json());
  const bool small = params.contains("size_bytes") && !full_sizes(params, kFullMemory);
  return (level.is_string() && level != "memory") || (probe == "memory_bandwidth" && small);
}

std::string full_name(const std::string& probe, const std::string& metric) {
  return metric.starts_with(probe + ".") ? metric : probe + "." + metric;
}

/// The finding on a bound of the gate; empty if the bound is plausible for any of its series.
std::optional<Finding> check_bound(const HardwareCatalogue& catalogue, const Case& suite_case,
                                   const Json& gate, const std::string& bound,
                                   const std::string& product) {
  std::optional<Finding> found;
  for (const Json& params : series_params(suite_case, gate)) {
    if (in_a_cache(suite_case.probe, params)) return {};
    Threshold threshold{full_name(suite_case.probe, gate.at("metric")), params,
                        gate.at(bound).get<double>(), product};
    threshold.at_full_size = at_full_size(suite_case.probe, params);
    found = check_threshold(catalogue, threshold);
    if (!found) return {};
  }
  // A maximum above the limit has no effect, and a low one may be intended.
  const bool slip =
      found && (found->kind == FindingKind::unit || found->kind == FindingKind::power_of_ten);
  return bound == "max" && !slip ? std::nullopt : found;
}

void check_gate(std::vector<Finding>& findings, const HardwareCatalogue& catalogue,
                const Case& suite_case, const Json& gate, const std::set<std::string>& names) {
  if (gate.contains("min_of_limit"))
    if (auto finding = check_share(gate["min_of_limit"].get<double>()))
      findings.push_back(*finding);
  if (suite_case.device == "host") return;  // the catalogue has no host processors
  for (const char* bound : {"min", "max"})
    for (const std::string& product : names)
      if (gate.contains(bound))
        if (auto finding = check_bound(catalogue, suite_case, gate, bound, product))
          findings.push_back(*finding);
}

}  // namespace

std::vector<Finding> implausible_gates(const Suite& suite, const Inventory& inventory,
                                       const HardwareCatalogue& catalogue) {
  std::vector<Finding> all;
  const auto names = products(inventory);
  for (std::size_t i = 0; i < suite.cases.size(); ++i)
    for (std::size_t j = 0; j < suite.cases[i].gates.size(); ++j) {
      std::vector<Finding> findings;
      check_gate(findings, catalogue, suite.cases[i], suite.cases[i].gates[j], names);
      const std::string at = "/cases/" + std::to_string(i) + "/gates/" + std::to_string(j) + ": ";
      for (const Finding& finding : findings)
        all.push_back({finding.kind, suite.path + ": " + at + finding.text});
    }
  return all;
}

}  // namespace bench
