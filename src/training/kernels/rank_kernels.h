// Sums, copies and messages between ranks that each have a part of the same tensors, as kernels of
// a lane.
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
  /// `all` becomes the elements of all ranks, in their order; `own` has equally many on each rank,
  /// the last of them possibly padded.
  virtual void gather(View own, View all) = 0;
  /// `own` becomes the sum over the ranks of this rank's elements of `all`, which keeps its values;
  /// padding becomes zero.
  virtual void scatter_sum(View all, View own, bool add) = 0;
  /// A message to another rank, which may be written over at once; see Collectives::send().
  virtual void send(View x, int to) = 0;
  /// x becomes the next message of another rank.
  virtual void receive(View x, int from) = 0;
  virtual int rank() const = 0;
  /// Spent in these calls so far, waiting for other ranks included.
  virtual Seconds spent() const = 0;
  /// Of it, on a processor: a library may poll while it waits.
  virtual Seconds processor() const = 0;
  /// Size of its own buffers, which the lanes of a rank share.
  virtual std::int64_t bytes() const = 0;
};

}  // namespace bench::training
