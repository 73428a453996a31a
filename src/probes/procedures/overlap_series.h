// The series of communication under computation: each side alone, and both at once.
#pragma once

#include <string>
#include <vector>

#include "probes/device/collectives.h"
#include "probes/procedures/collective_exchange.h"
#include "probes/procedures/communication_overlap.h"
#include "probes/procedures/device_load.h"
#include "probes/state.h"

namespace bench {

/// What together() can do at once on this rank.
struct Sides {
  Overlap& overlap;
  Exchange& exchange;
  const DeviceLoad& load;
  OverlapCalls calls;
};

/// What of the two a series does.
struct Active {
  std::string name;
  bool communication;
  bool computation;
};

/// Seconds of the slowest rank, when it has been done a few times: the first calls of a collective
/// find their memory and their connections cold, and took fifteen times as long in a trial.
double estimate(State& state, const Sides& sides, const Active& active);

class OverlapSeries {
 public:
  /// `params` distinguish it; what is active is added to them.
  OverlapSeries(State& state, const Sides& sides, Json params)
      : state_(state), sides_(sides), params_(std::move(params)) {}

  /// The median time of a series, in seconds.
  double measure(const Active& active);

  /// Of the last series: how long one side took while the other ran, of the slowest rank; 0 where
  /// only one ran.
  double median_part(Seconds Overlap::Parts::*side);

 private:
  void note_parts();

  State& state_;
  const Sides& sides_;
  Json params_;
  std::vector<Overlap::Parts> parts_;
};

}  // namespace bench
