// Sums low-rank approximations of matrices (PowerSGD, arXiv 1905.13727, algorithm 1). Of a matrix M
// of a rank, with the factor Q of the last step: P = M Q summed over ranks and orthonormalised,
// Q = M^T P summed over ranks; the sum is P Q^T, and a rank keeps M - P (M^T P)^T. That is one
// power iteration a step on the sum of all M. Vectors, and matrices that are no larger than their
// factors, are summed as they are.
#pragma once

#include "training/parallel/compressor.h"

namespace bench::training {

/// The columns of x [rows, columns], f32 or f64, become orthonormal, by modified Gram-Schmidt twice
/// in f64. A column that depends on those before it, to 1e-5 (1e-12 in f64) of its length, becomes
/// zero. `scratch` has room for as many elements.
void orthonormalise(View x, std::vector<double>& scratch);

class PowerSgd final : public Compressor {
 public:
  PowerSgd(const ExchangeMethod& method, const CompressorPlace& place,
           const std::vector<RowTensor>& tensors, Dtype dtype);

  void exchange(View rest, View sum) override;
  Seconds communicated() const override { return communicated_; }
  std::int64_t bytes() const override;
  /// The factors Q, from which the next power iteration starts.
  std::vector<NamedView> state() const override;

 private:
  struct Factors {
    RowTensor tensor;
    std::int64_t rank = 0;   // 0: exchanged as it is
    std::int64_t left = 0;   // of P [rows, rank], or of the tensor itself, in left_
    std::int64_t right = 0;  // of Q [columns, rank] in right_
  };
  template <class T>
  struct Work;
  View left() const { return {left_.data(), 1, left_count_, dtype_}; }
  View right() const { return {right_.data(), 1, right_count_, dtype_}; }
  void sum_over_ranks(View row);

  CompressorPlace place_;
  Dtype dtype_;
  std::vector<Factors> factors_ = {};
  std::int64_t left_count_ = 0, right_count_ = 0;
  MemoryBlock left_ = {}, right_ = {};
  std::unique_ptr<BucketExchange> sums_ = {};
  std::vector<std::vector<double>> scratch_ = {};  // by thread
  Seconds communicated_ = {};
};

}  // namespace bench::training
