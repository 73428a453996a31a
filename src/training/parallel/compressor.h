// Sums rows over ranks approximately, with fewer bytes than the rows have. Every rank gets the same
// bits, which depend on the number of ranks but not on the library or the number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/units.h"
#include "devices/group.h"
#include "training/engine/worker_pool.h"
#include "training/kernels/memory.h"
#include "training/parallel/bucket_exchange.h"
#include "training/parallel/exchange_method.h"

namespace bench::training {

class Compressor {
 public:
  virtual ~Compressor() = default;
  /// `rest` has this rank's row. `sum` becomes the sum over all ranks of what they send of theirs,
  /// and `rest` what this rank did not send: row = sent + rest to rounding. Both in host memory,
  /// one row in the layout of the gradients. Call on every rank.
  virtual void exchange(View rest, View sum) = 0;
  /// Of exchange(): the time spent communicating, waiting for late ranks included.
  virtual Seconds communicated() const = 0;
  /// Of buffers and factors.
  virtual std::int64_t bytes() const = 0;
  /// What the next exchange() depends on, for checkpoints; equal on all ranks.
  virtual std::vector<NamedView> state() const { return {}; }
};

/// Where and over whom a compressor works; all must outlive it.
struct CompressorPlace {
  Group& group;
  const KernelSet& kernels;
  WorkerPool& pool;  // idle during exchange()
  std::int64_t bucket_bytes = 25'000'000;
  SumOrder order = SumOrder::ranks;
};

/// Of a row of these tensors and `elements` elements in all. Throws Error(input) for a type other
/// than f32 and f64, and for a tensor that is too large.
std::unique_ptr<Compressor> make_compressor(const ExchangeMethod& method,
                                            const CompressorPlace& place,
                                            const std::vector<RowTensor>& tensors, Dtype dtype);

/// What such a compressor's messages, factors and scratch memory take, on so many ranks of so many
/// threads; without the buffers in which factors are summed, which are those of any exchange. 0 for
/// methods that compress nothing.
std::int64_t compressor_bytes(const ExchangeMethod& method, const std::vector<RowTensor>& tensors,
                              Dtype dtype, int ranks, int threads);

/// what(T{}) for rows of this type, which is f32 or f64.
template <class What>
void with_row_type(Dtype dtype, const What& what) {
  if (dtype == Dtype::f64)
    what(double{});
  else
    what(float{});
}

}  // namespace bench::training
