#include "results/acceptance/peer_cuts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace bench {
namespace {

struct Cuts {
  double hosts;
  std::array<double, 3> at;  // for kLevels
};

constexpr std::array<double, 3> kLevels = {1e-2, 1e-3, 1e-4};
constexpr double kLeastLevel = 1e-9;

// Odd numbers are worse than their even neighbours: the median is then a host, whose deviation is
// 0.
constexpr std::array<Cuts, 18> kCuts = {{{4, {11.23, 36.23, 119.6}},
                                         {5, {13.67, 44.21, 139.5}},
                                         {6, {8.36, 18.05, 38.71}},
                                         {7, {8.65, 19.75, 43.43}},
                                         {8, {6.71, 12.65, 22.81}},
                                         {9, {6.96, 13.23, 23.78}},
                                         {10, {5.95, 10.17, 16.77}},
                                         {11, {6.12, 10.57, 17.31}},
                                         {12, {5.52, 8.92, 13.69}},
                                         {13, {5.62, 8.94, 13.70}},
                                         {15, {5.30, 8.15, 12.06}},
                                         {16, {5.05, 7.38, 10.48}},
                                         {24, {4.57, 6.22, 8.09}},
                                         {32, {4.38, 5.66, 6.99}},
                                         {64, {4.16, 5.02, 5.92}},
                                         {128, {4.14, 4.77, 5.41}},
                                         {256, {4.14, 4.70, 5.26}},
                                         {1000, {4.31, 4.83, 5.29}}}};

/// ln of the cuts for this number of hosts.
std::array<double, 3> log_cuts(double hosts) {
  auto above = std::ranges::find_if(kCuts, [&](const Cuts& cuts) { return cuts.hosts >= hosts; });
  if (above == kCuts.end()) above = std::prev(above);
  const auto below = above == kCuts.begin() || above->hosts <= hosts ? above : std::prev(above);
  const double share = below == above ? 0.0
                                      : (std::log(hosts) - std::log(below->hosts)) /
                                            (std::log(above->hosts) - std::log(below->hosts));
  std::array<double, 3> cuts{};
  for (std::size_t i = 0; i < cuts.size(); ++i)
    cuts[i] = (1.0 - share) * std::log(below->at[i]) + share * std::log(above->at[i]);
  return cuts;
}

/// The straight line through the two of `x` that enclose or are nearest to `at`.
double along(const std::array<double, 3>& x, const std::array<double, 3>& y, double at) {
  const std::size_t i = (at - x[1]) * (x[2] - x[1]) > 0.0 ? 1 : 0;
  return y[i] + (y[i + 1] - y[i]) * (at - x[i]) / (x[i + 1] - x[i]);
}

std::array<double, 3> log_levels() {
  return {std::log(kLevels[0]), std::log(kLevels[1]), std::log(kLevels[2])};
}

}  // namespace

double peer_cut(std::size_t hosts, double level) {
  if (hosts < kFewestPeers) return std::numeric_limits<double>::infinity();
  const double log_level = std::log(std::clamp(level, kLeastLevel, kLevels[0]));
  return std::exp(along(log_levels(), log_cuts(static_cast<double>(hosts)), log_level));
}

double peer_level(std::size_t hosts, double z) {
  if (hosts < kFewestPeers || !(z < 0.0)) return 1.0;
  const double level =
      std::exp(along(log_cuts(static_cast<double>(hosts)), log_levels(), std::log(-z)));
  return std::clamp(level, kLeastLevel, 1.0);
}

bool beyond_chance(std::size_t hosts, double loss, double z, bool metric_rejected, double level) {
  // Cuts for few hosts allow for fleets that scatter without bound.
  constexpr double kBeyondDoubt = 0.75, kBeyondDoubtZ = -4.31;
  if (hosts < kFewestPeers) return false;
  return (metric_rejected && peer_level(hosts, z) <= level) ||
         (loss >= kBeyondDoubt && z <= kBeyondDoubtZ);
}

}  // namespace bench
