// The learning rate by step: warm-up, then one shape over a fixed horizon. It never depends on how
// the training goes, so that time to a target is a fair measure.
#pragma once

#include <cstdint>

namespace bench::training {

struct Schedule {
  enum class Shape {
    constant,
    linear,       // down to `floor` over the whole horizon after warm-up
    cosine,       // the same, as half a cosine
    linear_last,  // constant, then linear down to `floor` over the last `last` of the horizon
  };
  Shape shape = Shape::constant;
  double peak = 1e-3;
  std::int64_t warmup = 0;   // steps; step w of them has the share (w + 1) / warmup of the rate
  std::int64_t horizon = 0;  // steps in all
  double floor = 0.0;        // share of the peak
  double last = 0.5;         // share of the horizon, of linear_last

  /// Of step 0, 1, ...; beyond the horizon that of its end.
  double rate(std::int64_t step) const;
};

}  // namespace bench::training
