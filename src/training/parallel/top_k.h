// Sums only the largest elements of each tensor of each rank: gradient sparsification, as in deep
// gradient compression (arXiv 1712.01887) without its momentum correction and warm-up. Indices and
// values are gathered from all ranks and added in the order of ranks.
#pragma once

#include <span>

#include "training/parallel/compressor.h"

namespace bench::training {

/// The indices, ascending, of the chosen.size() elements of largest magnitude; of equal ones the
/// first. NaN counts as larger than infinity, so that it is sent and found. `scratch`: as many
/// bytes as x. x: f32 or f64.
void choose_largest(View x, std::byte* scratch, std::span<std::int32_t> chosen);

class TopK final : public Compressor {
 public:
  TopK(const ExchangeMethod& method, const CompressorPlace& place,
       const std::vector<RowTensor>& tensors, Dtype dtype);

  void exchange(View rest, View sum) override;
  Seconds communicated() const override { return communicated_; }
  std::int64_t bytes() const override;

 private:
  /// The elements that each rank sends of a tensor are neighbours in its message.
  struct Sent {
    RowTensor tensor;
    std::int64_t first = 0, count = 0;  // in the message
  };
  template <class T>
  void choose(const Sent& sent, View rest);
  template <class T>
  void add(const Sent& sent, View sum) const;

  CompressorPlace place_;
  Dtype dtype_;
  std::vector<Sent> sent_ = {};
  std::int64_t count_ = 0;                                   // elements of a rank's message
  MemoryBlock scratch_ = {};                                 // of all tensors
  MemoryBlock indices_, values_, all_indices_, all_values_;  // of this rank, of all
  Seconds communicated_ = {};
};

}  // namespace bench::training
