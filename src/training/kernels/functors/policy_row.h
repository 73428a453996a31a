// The arithmetic of one row of PolicyLoss, the same on host and device.
#pragma once

#include <math.h>

#include "training/kernels/functors/portable.h"
#include "training/kernels/policy_kernels.h"

namespace bench::training {

struct PolicyRow {
  const float* terms;  // of all rows
  double clip;

  /// The loss at a target whose -log p is `surprise`, in nats.
  BENCH_BOTH double loss(std::int64_t row, double surprise) const {
    const double advantage = term(row, PolicyTerm::advantage);
    const double ratio = exp(-surprise - term(row, PolicyTerm::sampled));
    const double clipped_ratio = fmin(fmax(ratio, 1.0 - clip), 1.0 + clip);
    const double weight = term(row, PolicyTerm::kl);
    const double log_q = term(row, PolicyTerm::reference) + surprise;
    const double divergence = weight == 0.0 ? 0.0 : weight * (exp(log_q) - log_q - 1.0);
    return -fmin(ratio * advantage, clipped_ratio * advantage) + divergence +
           term(row, PolicyTerm::imitation) * surprise;
  }
  /// The derivative of the loss with respect to `surprise`.
  BENCH_BOTH double slope(std::int64_t row, double surprise) const {
    const double advantage = term(row, PolicyTerm::advantage);
    const double ratio = exp(-surprise - term(row, PolicyTerm::sampled));
    const bool clipped = advantage > 0.0 ? ratio > 1.0 + clip : ratio < 1.0 - clip;
    const double weight = term(row, PolicyTerm::kl);
    const double log_q = term(row, PolicyTerm::reference) + surprise;
    return (clipped ? 0.0 : ratio * advantage) +
           (weight == 0.0 ? 0.0 : weight * (exp(log_q) - 1.0)) + term(row, PolicyTerm::imitation);
  }

 private:
  BENCH_BOTH double term(std::int64_t row, PolicyTerm which) const {
    return static_cast<double>(terms[row * kPolicyTerms + static_cast<std::int64_t>(which)]);
  }
};

}  // namespace bench::training
