#include <array>
#include <string_view>
#include <utility>

#include "results/compare/compare.h"

namespace bench {
namespace {

// Beginnings of metrics' names; the first that fits counts.
constexpr std::array<std::pair<std::string_view, Resource>, 20> kResources{{
    {"gemm.", Resource::compute},
    {"instruction_peak.", Resource::compute},
    {"clock.", Resource::compute},
    {"burn.gemm_rate", Resource::compute},
    {"burn.kept", Resource::compute},
    {"concurrency.gemm_rate", Resource::compute},
    {"memory_bandwidth.", Resource::memory},
    {"memory_latency.", Resource::latency},
    {"burn.memory_rate", Resource::memory},
    {"concurrency.memory_rate", Resource::memory},
    {"copy.", Resource::links},
    {"collective.latency", Resource::latency},
    {"collective.init_time", Resource::latency},
    {"collective.", Resource::links},
    {"burn.copy_rate", Resource::links},
    {"concurrency.copy_rate", Resource::links},
    {"concurrency.communication_rate", Resource::links},
    {"launch_latency.", Resource::latency},
    {"training.", Resource::workload},
    {"external.", Resource::workload},
}};

}  // namespace

Resource resource_of(const std::string& metric) {
  for (const auto& [beginning, resource] : kResources)
    if (metric.starts_with(beginning)) return resource;
  return Resource::other;
}

std::string_view to_string(Resource resource) {
  constexpr std::array<std::string_view, 6> kNames = {"compute", "memory",   "links",
                                                      "latency", "workload", "other"};
  return kNames[static_cast<std::size_t>(resource)];
}

std::string_view to_string(Basis basis) {
  constexpr std::array<std::string_view, 7> kNames = {"none",    "pairs",   "runs", "hosts",
                                                      "history", "samples", "exact"};
  return kNames[static_cast<std::size_t>(basis)];
}

}  // namespace bench
