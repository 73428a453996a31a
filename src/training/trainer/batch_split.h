// The split of a step's samples, which are numbered from step x batch: each rank (each copy of a
// model that is divided over ranks) takes a contiguous part, each of its lanes (threads) a
// contiguous part of that, in micro-batches of equal size.
#pragma once

#include <cstdint>

namespace bench::training {

struct BatchSplit {
  std::int64_t batch = 0;  // samples of a step over all ranks
  int ranks = 1;
  int lanes = 1;                 // of each rank
  std::int64_t micro_batch = 1;  // samples
  int micro_batches = 1;         // of each lane in a step

  std::int64_t of_rank() const { return batch / ranks; }
  /// The first sample of micro-batch `number` (0 to lanes x micro_batches - 1) of a rank.
  std::uint64_t first(std::int64_t step, int rank, int number) const {
    return static_cast<std::uint64_t>(step * batch + rank * of_rank() + number * micro_batch);
  }
};

/// `lanes` 0: the largest divisor of a rank's part up to `cores`. Micro-batches have the largest
/// divisor of a lane's part up to `most` (0: no limit). Throws Error(input) if ranks or lanes
/// cannot have equal parts.
BatchSplit split_batch(std::int64_t batch, int ranks, int lanes, int cores, std::int64_t most);

}  // namespace bench::training
