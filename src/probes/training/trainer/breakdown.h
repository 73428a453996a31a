// The time breakdown of a run. The phases of one rank add up to its wall time: the remainder is
// `other`. The lanes (threads) of a rank are averaged; the rest of a step is `lane_wait`: lanes that
// wait for each other and sum their gradients. The exchange hidden behind the backward pass costs no
// time of its own and has no share.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "probes/group.h"

namespace bench::training {

enum class RunPhase {
  data,
  transfer,
  forward,
  backward,
  exchange_exposed,
  optimizer,
  lane_wait,
  evaluation,
  checkpoint,
  checks,
  other,
  exchange_hidden
};
constexpr std::size_t kRunPhases = 12;
std::string_view to_string(RunPhase phase);

struct PhaseTime {
  RunPhase phase = RunPhase::other;
  Seconds mean;                      // over ranks, of the whole run
  int slowest_rank = 0;              // the rank with the largest value
  std::optional<double> share = {};  // of the wall time
};

class Breakdown {
 public:
  void add(RunPhase phase, Seconds time) { at(phase) += time; }
  Seconds of(RunPhase phase) const { return times_[static_cast<std::size_t>(phase)]; }
  /// Call on every rank with its own wall time; all get the same result, in the order above.
  std::vector<PhaseTime> over_ranks(Group& group, Seconds wall) const;

 private:
  Seconds& at(RunPhase phase) { return times_[static_cast<std::size_t>(phase)]; }

  std::array<Seconds, kRunPhases> times_ = {};
};

}  // namespace bench::training
