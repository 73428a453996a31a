#include "results/history/metric_declaration.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/order_statistics.h"

namespace bench {
namespace {

struct Declared {
  std::string_view name;  // a name, or a prefix if it ends in a dot
  MetricDeclaration declaration;
};

constexpr MetricDeclaration kExact{
    .exact = true, .log_scale = false, .threshold = 0.0, .noise_floor = 0.0};
// Gaps to a target and shares that reach zero have no logarithm.
constexpr MetricDeclaration kLinear{.log_scale = false};

// The first match wins.
constexpr std::array<Declared, 9> kDeclared{{
    // Read from firmware tables or boot parameters: approximate, not exact.
    {"topology.memory", {}},
    {"topology.dram_bandwidth_limit", {}},
    {"topology.", kExact},
    {"memory_bandwidth.huge_share", kLinear},
    {"concurrency.overlap_ratio", kLinear},
    {"training.quality", kLinear},
    {"external.quality", kLinear},
    {"external.native_quality", kLinear},
    // The first communicator of a process also loads libraries, so its variation is different.
    {"collective.init_time", {.threshold = 0.10, .noise_floor = 0.01}},
}};

bool is_named(std::string_view name, const std::string& metric) {
  return name.ends_with('.') ? metric.starts_with(name) : metric == name;
}

}  // namespace

MetricDeclaration declaration(const std::string& metric) {
  for (const Declared& one : kDeclared)
    if (is_named(one.name, metric)) return one.declaration;
  return {};
}

double combined(std::span<const double> repeats, Combine how) {
  switch (how) {
    case Combine::least:
      return quantile(repeats, 0.0);
    case Combine::greatest:
      return quantile(repeats, 1.0);
    case Combine::median:
      break;
  }
  return median(repeats);
}

}  // namespace bench
