// The time of a collective by latency and bandwidth: alpha + beta x bytes for one number of ranks,
// fitted to measurements, and carried to others by the steps and bytes of the algorithm.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/names.h"
#include "results/predictions/prediction.h"

namespace bench {

enum class CollectiveAlgorithm { ring, tree };
inline constexpr NameTable<CollectiveAlgorithm, 2> kCollectiveAlgorithms{
    {{{CollectiveAlgorithm::ring, "ring"}, {CollectiveAlgorithm::tree, "tree"}}}};

/// Steps one after the other, and bytes that pass the slowest link for each byte of the message, of
/// an operation as the probe `collective` names it. Throws Error(input) for an unknown operation.
struct CollectiveCost {
  double steps = 0.0, share = 0.0;
};
CollectiveCost collective_cost(const std::string& operation, CollectiveAlgorithm algorithm,
                               int ranks);

struct MeasuredCollective {
  double bytes = 0.0;
  double seconds = 0.0;
};

/// The time of a message by measured ones of the same operation and ranks: between two sizes by a
/// line through both in bytes and seconds, beyond the largest by the rate between the last two.
/// NaN below the smallest.
double interpolated_seconds(std::span<const MeasuredCollective> points, double bytes);

struct CollectiveQuestion {
  std::string operation = "all_reduce";
  double bytes = 0.0;
  int ranks = 0;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  /// Either measured points of `measured_ranks` ranks, or the two constants of a link.
  std::vector<MeasuredCollective> measured = {};
  int measured_ranks = 0;
  std::string measured_source = {};
  double latency_s = 0.0;         // of a step
  double bytes_per_second = 0.0;  // of a rank's slowest link, one direction
};

/// Throws Error(input) where there is nothing to predict from.
Prediction predict_collective(const CollectiveQuestion& question);

}  // namespace bench
