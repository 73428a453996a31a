// A host against what a fleet taught.
#include <algorithm>
#include <cmath>

#include "results/acceptance/hearing.h"
#include "results/fleet/fleet_group.h"
#include "results/statistics/distributions.h"

namespace bench {
namespace {

/// Of the level; peers and repeatability have the rest.
constexpr double kGoldenShare = 1.0 - kPeersShare - kRepeatabilityShare;

/// host_noise is a robust sigma: of n hosts it knows as much as the usual one of 0.37 n.
constexpr double kMadEfficiency = 0.37;

/// What the worst of so many healthy hosts would reach: the hosts that taught differ by host_noise.
double chance_of(const FleetGroup& group, const FleetSettings& settings) {
  const double noise = group.criterion->host_noise;
  if (!std::isfinite(noise)) return 0.0;
  const double level = kGoldenShare * settings.level / static_cast<double>(group.golden_tests);
  // A profile written by hand says no number of hosts, and is believed.
  if (group.criterion->hosts < 2) return -normal_quantile(level) * noise;
  const double taught = static_cast<double>(group.criterion->hosts - 1);
  return -student_quantile(level, std::max(1.0, kMadEfficiency * taught)) * noise;
}

}  // namespace

double golden_allowed(const FleetGroup& group) {
  return std::max(1.0 - group.criterion->alpha, group.about.threshold);
}

bool is_below_golden(const FleetGroup& group, const FleetSettings& settings, const FleetRow& row) {
  const double half = std::isfinite(row.half) ? row.half : 0.0;
  return row.golden_loss - half > golden_allowed(group) &&
         row.golden_loss > chance_of(group, settings);
}

}  // namespace bench
