#include "runner/hardware/plausibility.h"

#include <fmt/format.h>

#include <cmath>

#include "core/names.h"
#include "core/text.h"
#include "runner/hardware/plausible_range.h"
#include "runner/hardware/slip.h"

namespace bench {
namespace {

constexpr NameTable<FindingKind, 8> kKinds{{{{FindingKind::unit, "unit"},
                                             {FindingKind::power_of_ten, "power_of_ten"},
                                             {FindingKind::sparse, "sparse"},
                                             {FindingKind::above_link, "above_link"},
                                             {FindingKind::other_product, "other_product"},
                                             {FindingKind::above_peak, "above_peak"},
                                             {FindingKind::too_low, "too_low"},
                                             {FindingKind::contradiction, "contradiction"}}}};

/// Two sources within this of each other say the same.
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

/// Which products the threshold may be meant for.
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
