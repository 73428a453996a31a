#include "runner/hardware/plausibility.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "core/names.h"
#include "core/text.h"
#include "runner/hardware/collective_limits.h"

namespace bench {
namespace {

/// The error that explains a value outside the plausible range.
struct Slip {
  FindingKind kind = FindingKind::unit;
  std::string text;  // the probable error, and a plausible value
};

/// A corrected value must be plausible, or the correction explains nothing.
constexpr double kSensible = 0.4;
constexpr double kSensibleBits = 0.6;  // 8 is so small a factor that chance would fit too often
constexpr double kSameNumber = 0.005;

struct Suspect {
  const HardwareCatalogue& catalogue;
  const HardwareEntry& entry;
  const Threshold& threshold;
  const PlausibleRange& range;
  double value() const { return threshold.value; }
  double limit() const { return range.limit.value; }
  std::string shown(double number) const { return format(number, unit_of(threshold)); }
  std::string right(double number) const {
    return fmt::format("{} would be {:.0f} % of the limit", shown(number),
                       100.0 * number / limit());
  }
};

bool same_number(double a, double b) { return std::abs(a / b - 1.0) < kSameNumber; }

std::optional<Slip> tens(const Suspect& suspect, double direction) {
  for (int power = 1; power <= 12; ++power) {
    const double corrected = suspect.value() * std::pow(10.0, direction * power);
    if (corrected < kSensible * suspect.limit() || corrected > suspect.range.highest) continue;
    const char* way = direction > 0 ? "low" : "high";
    const std::string factor = fmt::format("{:.0f}", std::pow(10.0, power));
    if (power % 3 == 0)
      return Slip{FindingKind::unit, fmt::format("{} times too {}, so probably in another unit; {}",
                                                 factor, way, suspect.right(corrected))};
    return Slip{FindingKind::power_of_ten,
                fmt::format("{} times too {}, so probably a digit error; {}", factor, way,
                            suspect.right(corrected))};
  }
  return {};
}

std::optional<Slip> ten_times_too_low(const Suspect& suspect) { return tens(suspect, 1.0); }
std::optional<Slip> ten_times_too_high(const Suspect& suspect) { return tens(suspect, -1.0); }

std::optional<Slip> sparse(const Suspect& suspect) {
  if (suspect.threshold.metric != "gemm.throughput" || suspect.entry.sparsity_factor < 2) return {};
  const Json dtype = suspect.threshold.params.value("dtype", Json());
  const HardwarePeak* peak = suspect.entry.peak(dtype.is_string() ? dtype.get<std::string>() : "");
  const double counted = suspect.entry.sparsity_factor * suspect.limit();
  const bool has_sparse = peak && peak->pipe == "tensor" && peak->dtypes.front() != "f64";
  if (!has_sparse || suspect.value() > counted * 1.005) return {};
  return Slip{FindingKind::sparse,
              fmt::format("probably counted with structured sparsity; dense, {}",
                          suspect.right(suspect.value() / suspect.entry.sparsity_factor))};
}

std::optional<Slip> bits(const Suspect& suspect) {
  const double bytes = suspect.value() / 8.0;
  const bool sensible =
      bytes >= kSensibleBits * suspect.limit() && bytes <= suspect.limit() * 1.001;
  if (!suspect.range.link || !sensible) return {};
  return Slip{FindingKind::unit,
              "probably bits a second written as bytes; " + suspect.right(bytes)};
}

/// Values of the same kind: only dtype, operation and route make them incomparable.
bool comparable(const Json& a, const Json& b) {
  for (const char* key : {"dtype", "op", "route"})
    if (a.value(key, Json()) != b.value(key, Json())) return false;
  return collective_path(a).nodes == 1 && collective_path(b).nodes == 1;
}

std::optional<Slip> copied_from(const Suspect& suspect, const HardwareEntry& other) {
  const Threshold& threshold = suspect.threshold;
  const auto copied = [&](const std::string& what) {
    return Slip{FindingKind::other_product,
                fmt::format("probably copied: it is {} of {}; a floor here is between {} and {}",
                            what, other.name, suspect.shown(suspect.range.lowest),
                            suspect.shown(suspect.range.highest))};
  };
  for (const ReportedValue& one : other.reported)
    if (one.doubt.empty() && one.metric == threshold.metric &&
        same_number(one.value, suspect.value()) && comparable(one.params, threshold.params))
      return copied("a " + std::string(one.kind == "threshold" ? "floor" : "result"));
  const auto limit = hardware_limit(other, {}, threshold.metric, threshold.params);
  if (limit && !suspect.range.link && same_number(limit->value, suspect.value()))
    return copied("the peak");
  return {};
}

std::optional<Slip> other_product(const Suspect& suspect) {
  if (collective_path(suspect.threshold.params).nodes > 1) return {};
  for (const HardwareEntry& other : suspect.catalogue.all())
    if (other.name != suspect.entry.name)
      if (auto slip = copied_from(suspect, other)) return slip;
  return {};
}

Slip too_much(const Suspect& suspect) {
  const std::string times = fmt::format("{:.2f} x the limit", suspect.value() / suspect.limit());
  if (!suspect.range.link) return {FindingKind::above_peak, times + ", more than the device can"};
  if (suspect.value() <= suspect.limit() * 1.001)
    return {FindingKind::above_link,
            "the raw rate of the link, which nothing reaches: headers take their share"};
  const bool both =
      suspect.value() <= 2.0 * suspect.limit() && suspect.threshold.metric == "copy.bandwidth";
  return {FindingKind::above_link, times + (both ? ", probably both directions added; one way, " +
                                                       suspect.right(suspect.value() / 2.0)
                                                 : ", more than the path carries")};
}

Slip too_little(const Suspect& suspect) {
  return {
      FindingKind::too_low,
      fmt::format("{:.0f} % of the limit: a device with half of its lanes, links or memory gone "
                  "would pass; healthy ones do {} or more",
                  100.0 * suspect.value() / suspect.limit(), suspect.shown(suspect.range.lowest))};
}

/// Empty if the value is in range.
std::optional<Slip> find_slip(const HardwareCatalogue& catalogue, const HardwareEntry& entry,
                              const Threshold& threshold, const PlausibleRange& range) {
  const Suspect suspect{catalogue, entry, threshold, range};
  if (threshold.value > range.highest) {
    for (const auto& explanation : {sparse, bits, other_product, ten_times_too_high})
      if (auto slip = explanation(suspect)) return slip;
    return too_much(suspect);
  }
  if (threshold.value >= range.lowest || !threshold.at_full_size) return {};
  for (const auto& explanation : {ten_times_too_low, other_product})
    if (auto slip = explanation(suspect)) return slip;
  return too_little(suspect);
}

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

/// Between nodes much is unknown here: only errors by powers of ten are found.
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

namespace {

constexpr NameTable<FindingKind, 8> kKinds{{{{FindingKind::unit, "unit"},
                                             {FindingKind::power_of_ten, "power_of_ten"},
                                             {FindingKind::sparse, "sparse"},
                                             {FindingKind::above_link, "above_link"},
                                             {FindingKind::other_product, "other_product"},
                                             {FindingKind::above_peak, "above_peak"},
                                             {FindingKind::too_low, "too_low"},
                                             {FindingKind::contradiction, "contradiction"}}}};

/// Two sources within this of each other agree.
constexpr double kSameValue = 0.02;

/// The parameters that a limit depends on; a suite's gate has more.
std::string described(const Threshold& threshold, double value) {
  std::string params;
  for (const char* name : {"dtype", "route", "op", "ranks", "nodes", "algorithm", "nics_per_node",
                           "nic_bytes_per_second"})
    if (threshold.params.contains(name))
      params += fmt::format("{}{} {}", params.empty() ? " {" : ", ", name,
                            excerpt(threshold.params[name]));
  return threshold.metric + (params.empty() ? "" : params + "}") + " " +
         format(value, unit_of(threshold));
}

/// The products that the threshold may be meant for.
std::vector<const HardwareEntry*> candidates(const HardwareCatalogue& catalogue,
                                             const std::string& product) {
  auto found = catalogue.like(product);
  if (found.empty())
    for (const HardwareEntry& entry : catalogue.all()) found.push_back(&entry);
  return found;
}

/// A slip with a name explains more than "too much" and "too little", and a wrong unit is the most
/// common one.
int rank_of(FindingKind kind) {
  if (kind == FindingKind::unit) return 0;
  const bool unexplained = kind == FindingKind::too_low || kind == FindingKind::above_link ||
                           kind == FindingKind::above_peak;
  return unexplained ? 2 : 1;
}

struct Suspicion {
  Finding finding;
  double distance = 0.0;  // of the value from the limit, in e-foldings
  bool better_than(const Suspicion& other) const {
    const int here = rank_of(finding.kind), there = rank_of(other.finding.kind);
    if (here != there) return here < there;
    return distance < other.distance;
  }
};

Suspicion suspicion(const HardwareEntry& entry, const Threshold& threshold,
                    const PlausibleRange& range, const Slip& slip) {
  const std::string text = fmt::format(
      "{} on {}: {}; its limit: {}", described(threshold, threshold.value), entry.name, slip.text,
      format(range.limit.value, unit_of(threshold)) + " (" + range.limit.source + ")");
  return {{slip.kind, text}, std::abs(std::log(threshold.value / range.limit.value))};
}

}  // namespace

std::string_view to_string(FindingKind kind) { return kKinds.name(kind); }

std::optional<Finding> check_threshold(const HardwareCatalogue& catalogue,
                                       const Threshold& threshold) {
  if (!(threshold.value > 0.0) || !std::isfinite(threshold.value)) return {};
  std::optional<Suspicion> best;
  for (const HardwareEntry* entry : candidates(catalogue, threshold.product)) {
    const auto range = plausible_range(*entry, threshold);
    if (!range) continue;
    const auto slip = find_slip(catalogue, *entry, threshold, *range);
    if (!slip) return {};
    const Suspicion here = suspicion(*entry, threshold, *range, *slip);
    if (!best || here.better_than(*best)) best = here;
  }
  if (!best) return {};
  return best->finding;
}

std::optional<Finding> check_share(double share) {
  if (!(share > 1.0)) return {};
  if (share > 2.0 && share <= 100.0)
    return Finding{FindingKind::unit,
                   fmt::format("{} of the limit: probably per cent; {} per cent are {}", share,
                               share, share / 100.0)};
  return Finding{FindingKind::above_peak,
                 fmt::format("{} of the limit: nothing passes that; write a share below 1", share)};
}

std::vector<Finding> contradictions(const std::vector<Threshold>& thresholds) {
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < thresholds.size(); ++i)
    for (std::size_t j = i + 1; j < thresholds.size(); ++j) {
      const Threshold& a = thresholds[i];
      const Threshold& b = thresholds[j];
      const bool same = a.metric == b.metric && a.params == b.params && a.product == b.product;
      if (!same || !(std::abs(a.value / b.value - 1.0) > kSameValue)) continue;
      findings.push_back({FindingKind::contradiction,
                          fmt::format("{} on {} according to {}, {} according to {}: keep one",
                                      described(a, a.value), a.product, a.source,
                                      format(b.value, unit_of(b)), b.source)});
    }
  return findings;
}

}  // namespace bench
