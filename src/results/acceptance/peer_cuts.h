// How far below its peers a host must lie before chance is no excuse. z is measured in robust
// sigmas (1.4826 x MAD), which few hosts know badly: among four healthy ones the worst reaches 11
// in one fleet of a hundred, among a thousand 4.3. Source: simulation of Gaussian fleets
// (scripts/evidence acceptance_rates repeats it); the level counts the whole fleet.
#pragma once

#include <cstddef>

namespace bench {

/// Fewer hosts than this cannot judge each other.
inline constexpr std::size_t kFewestPeers = 4;

/// The |z| that the worst of `hosts` healthy hosts passes with probability `level`, one side.
/// Interpolated in ln(hosts), and ln(level) between 1 % and 0.01 %, beyond that along the same
/// line. Infinite below kFewestPeers.
double peer_cut(std::size_t hosts, double level = 0.01);

/// The level at which `z` (negative: worse than the peers) would just be accused; 1 for a z that is
/// not below zero, at least 1e-9.
double peer_level(std::size_t hosts, double z);

/// Whether a loss is more than chance: its metric is among the rejected ones and its z lies beyond
/// `level`; or, however few hosts there are (kFewestPeers at least), it is at a quarter of its
/// peers or below where their scatter is four times smaller.
bool beyond_chance(std::size_t hosts, double loss, double z, bool metric_rejected, double level);

}  // namespace bench
