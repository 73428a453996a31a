#include "runner/hardware/plausible_range.h"

#include "runner/hardware/collective_limits.h"

namespace bench {
namespace {

/// Headers alone take more than the rest: a link's raw rate is never seen.
constexpr double kMostOfLink = 0.985;
/// Datasheets round.
constexpr double kMostOfPeak = 1.001;

/// The share of the limit below which a floor finds only dead devices. The published floors that
/// make sense begin at 46 % (memory), 51 % (gemm), 62 % (links).
double lowest_share(const std::string& metric) {
  if (metric == "gemm.throughput") return 0.3;
  if (metric == "memory_bandwidth.bandwidth") return 0.4;
  return 0.5;
}

/// Between nodes much depends on what is unknown here: only slips by powers of ten are seen.
constexpr double kLowestBetweenNodes = 0.02;

double lowest(const HardwareEntry& entry, const Threshold& threshold, const Limit& limit) {
  if (!threshold.metric.starts_with("collective."))
    return lowest_share(threshold.metric) * limit.value;
  if (collective_path(threshold.params).nodes > 1) return kLowestBetweenNodes * limit.value;
  // A node that falls back from the switch to a ring is slow, not implausible.
  Json ring = threshold.params;
  ring["algorithm"] = "ring";
  const auto slower = hardware_limit(entry, {}, threshold.metric, ring);
  return lowest_share(threshold.metric) * (slower ? slower->value : limit.value);
}

}  // namespace

std::optional<PlausibleRange> plausible_range(const HardwareEntry& entry,
                                              const Threshold& threshold) {
  const auto limit = hardware_limit(entry, {}, threshold.metric, threshold.params);
  if (!limit) return {};
  const bool link = threshold.metric != "gemm.throughput" &&
                    threshold.metric != "memory_bandwidth.bandwidth" &&
                    threshold.params.value("route", Json()) != "inside";
  return PlausibleRange{*limit, lowest(entry, threshold, *limit),
                        limit->value * (link ? kMostOfLink : kMostOfPeak), link};
}

Unit unit_of(const Threshold& threshold) {
  if (threshold.metric != "gemm.throughput") return Unit::byte_per_second;
  const bool integers = threshold.params.value("dtype", Json()) == "int8";
  return integers ? Unit::op_per_second : Unit::flop_per_second;
}

}  // namespace bench
