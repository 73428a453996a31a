// How the time of a collective, or of work that grows with the workers, grows with their number:
// T(N) = t0 + t1 ln N + t2 N, each >= 0: a constant, a tree, a ring or one that serves all.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "results/json_fields.h"

namespace bench {

struct TimeAt {
  double n = 1.0;        // workers, >= 1
  double seconds = 0.0;  // > 0
};

struct TimeFit {
  double constant = 0.0, per_log = 0.0, per_worker = 0.0;  // seconds
  double deviation = kNoValue;                             // residual, relative
  double aicc = kNoValue;
  std::size_t values = 0;
  double seconds(double n) const;
};

/// Least squares of (T - fit) / T; among the sets of terms without negative coefficients the one
/// with the lowest AICc. Nothing below five different N.
std::optional<TimeFit> time_fit(std::span<const TimeAt> values);

}  // namespace bench
