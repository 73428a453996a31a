// The arithmetic of one row of DividedLoss, the same on host and device.
#pragma once

#include <cmath>
#include <cstdint>

#include "training/kernels/functors/portable.h"
#include "training/kernels/vocabulary_kernels.h"

namespace bench::training {

/// The softmax of a row, from the statistics of all ranks, summed in their order.
template <class T>
struct DividedSoftmax {
  T largest = T{};
  double exponentials = 0.0;  // sum of e^(logit - largest)
  T target = T{};

  BENCH_BOTH DividedSoftmax(const T* statistics, std::int64_t row, std::int64_t rows, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      const T of_rank = at(statistics, rank * rows + row, LogitStatistic::largest);
      if (rank == 0 || of_rank > largest) largest = of_rank;
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const std::int64_t i = rank * rows + row;
      exponentials +=
          static_cast<double>(at(statistics, i, LogitStatistic::exponentials)) *
          exp(static_cast<double>(at(statistics, i, LogitStatistic::largest) - largest));
      target += at(statistics, i, LogitStatistic::target);
    }
  }

  /// -log of the probability of the target, nats.
  BENCH_BOTH double surprise() const {
    return log(exponentials) + static_cast<double>(largest - target);
  }

 private:
  static BENCH_BOTH T at(const T* statistics, std::int64_t row, LogitStatistic which) {
    return statistics[row * kLogitStatistics + static_cast<std::int64_t>(which)];
  }
};

}  // namespace bench::training
