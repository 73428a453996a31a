// Sums of rows of a table, by ids of which each sample has as many ("multi-hot"), and the way back.
// Tables are larger than what a graph holds and lie in rows of wider buffers: hence the strides.
#pragma once

#include <cstdint>

#include "probes/training/kernels/view.h"

namespace bench::training {

struct BagIds {
  const std::int32_t* data = nullptr;
  std::int64_t bags = 0;
  std::int64_t lookups = 1;  // of each bag
  std::int64_t stride = 1;   // elements from bag to bag
};

class BagKernels {
 public:
  virtual ~BagKernels() = default;
  /// y[bag] = sum of table[id - first_row] over the bag's ids, in their order; ids of rows that the
  /// table does not hold add nothing. y has `y_stride` elements from bag to bag.
  virtual void pool(const BagIds& ids, View table, std::int64_t first_row, float* y,
                    std::int64_t y_stride) = 0;
  /// sums[slot] += scale x y_gradient[bag] for each of the bag's slots, bag by bag; negative slots
  /// are left out.
  virtual void add(const BagIds& slots, const float* y_gradient, std::int64_t y_stride, float scale,
                   View sums) = 0;
};

}  // namespace bench::training
