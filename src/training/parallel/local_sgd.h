// Local steps, as DiLoCo makes them (arXiv 2311.08105, algorithm 1): each rank trains alone for a
// period with its own optimizer state. Then the ranks average how far they have moved from the
// common parameters, and a Nesterov step along that mean makes the next common ones:
//
//   d = common - mean of the ranks' parameters, m = momentum m + d, common -= rate (d + momentum m)
//
// With rate 1 and momentum 0 that is the mean of the ranks' parameters.
#pragma once

#include <vector>

#include "training/engine/replica.h"
#include "training/parallel/bucket_exchange.h"
#include "training/parallel/exchange_method.h"

namespace bench::training {

class LocalSgd {
 public:
  /// The replica's parameters, in host memory in f32 or f64, are the first common ones: equal on
  /// all ranks. Throws Error(input) for other types, and Error(environment) if the ranks have no
  /// collectives.
  LocalSgd(Replica& replica, Group& group, const ExchangeMethod& method, std::int64_t bucket_bytes,
           SumOrder order);

  /// Ends a period: every rank's parameters become the next common ones, with the same bits.
  /// Overwrites the gradients. Call on every rank.
  void average();
  /// After loading a checkpoint, which is made right after average().
  void resume();

  /// Compares average() with what every rank computes in f64 from the sum over the control plane of
  /// all ranks' parameters, which have moved apart by one pass over `fill` each. Returns the
  /// largest distance over ranks, relative to the length of the update. The parameters, the common
  /// ones and the momentum are as before; gradients are overwritten. Call on every rank.
  double compare(const Replica::Fill& fill);

  /// Of the common parameters and the momentum.
  std::int64_t kept_bytes() const { return common_.bytes() + momentum_.bytes(); }
  /// Of the exchange's buffers.
  std::int64_t bytes() const { return sums_.bytes(); }
  /// The same before there is one.
  static std::int64_t bytes_for(const Plan& plan, int ranks, std::int64_t bucket_bytes);
  /// Equal on all ranks, for checkpoints.
  std::vector<NamedView> state() const;

 private:
  View parameters() const;
  View row_in(const MemoryBlock& block) const;
  std::vector<double> expected_parameters() const;

  Replica& replica_;
  Group& group_;
  ExchangeMethod method_;
  BucketExchange sums_;
  MemoryBlock common_, momentum_;
};

}  // namespace bench::training
