#include "results/acceptance/metric_class.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace bench {
namespace {

using Threshold = std::pair<std::string_view, double>;

constexpr double kOthers = 0.01;

constexpr std::array<Threshold, 17> kThresholds{{{"gemm.throughput", 0.06},
                                                 {"instruction_peak.throughput", 0.06},
                                                 {"clock.frequency", 0.06},
                                                 {"burn.gemm_rate", 0.06},
                                                 {"burn.sustained_ratio", 0.06},
                                                 {"concurrency.gemm_rate", 0.06},
                                                 {"concurrency.sustained_ratio", 0.06},
                                                 {"memory_bandwidth.bandwidth", 0.02},
                                                 {"memory_latency.latency", 0.02},
                                                 {"burn.memory_rate", 0.02},
                                                 {"burn.copy_rate", 0.02},
                                                 {"concurrency.memory_rate", 0.02},
                                                 {"concurrency.copy_rate", 0.02},
                                                 {"copy.bandwidth", 0.02},
                                                 {"collective.busbw", 0.03},
                                                 {"launch_latency.latency", 0.06},
                                                 {"concurrency.communication_rate", 0.03}}};

constexpr std::array<std::string_view, 9> kNotJudged = {"collective.algbw",
                                                        "collective.latency",
                                                        "collective.init_time",
                                                        "gemm.per_cycle",
                                                        "memory_bandwidth.traffic",
                                                        "memory_bandwidth.huge_share",
                                                        "concurrency.overlap_ratio",
                                                        "instruction_peak.per_cycle",
                                                        "copy.time"};

}  // namespace

std::optional<double> practical_threshold(const std::string& metric,
                                          const std::map<std::string, double>& changed) {
  if (const auto found = changed.find(metric); found != changed.end()) return found->second;
  if (std::ranges::find(kNotJudged, metric) != kNotJudged.end()) return {};
  const auto known = std::ranges::find(kThresholds, metric, &Threshold::first);
  return known == kThresholds.end() ? kOthers : known->second;
}

}  // namespace bench
