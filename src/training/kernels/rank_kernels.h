// Sums over ranks that each have a part of the same tensors (tensor parallelism), as a kernel of a
// lane.
#pragma once

#include <cstdint>

#include "core/units.h"
#include "training/kernels/view.h"

namespace bench::training {

class RankKernels {
 public:
  virtual ~RankKernels() = default;
  /// x becomes the sum over the ranks, with the same bits on each.
  virtual void sum(View x) = 0;
  /// Spent in sum() so far, waiting for other ranks included.
  virtual Seconds spent() const = 0;
  /// Size of its own buffers.
  virtual std::int64_t bytes() const = 0;
};

}  // namespace bench::training
