#include "runner/hardware/slip.h"

#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "runner/hardware/collective_limits.h"

namespace bench {
namespace {

/// A corrected value must be a sensible one, else the correction explains nothing.
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

}  // namespace

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

}  // namespace bench
