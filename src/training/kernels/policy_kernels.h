// Kernels of a language model as a policy: generation with cached keys and values, and the loss of
// a policy gradient.
#pragma once

#include <cstdint>

#include "training/kernels/view.h"

namespace bench::training {

struct AttentionShape;

/// Columns of PolicyLoss::terms, all f32.
enum class PolicyTerm : std::int8_t {
  advantage,  // of the sequence: how much better than its group it was
  sampled,    // log-probability of the target when it was sampled
  reference,  // log-probability of the target in the reference model
  kl,         // weight of the divergence from the reference
  imitation   // weight of -log p, which alone makes the loss that of cross_entropy
};
inline constexpr std::int64_t kPolicyTerms = 5;

/// The loss of GRPO (arXiv 2402.03300) for each row, with p the probability of its target, r = p /
/// p_sampled and q = p_reference / p:
///   -min(r advantage, clamp(r, 1 - clip, 1 + clip) advantage) + kl (q - log q - 1)
///   - imitation log p
/// A negative target is ignored: loss and gradient are 0.
struct PolicyLoss {
  View logits;   // overwritten with the gradient times gradient_scale unless that is 0
  View targets;  // int32 [rows, 1]
  View terms;    // f32 [rows, kPolicyTerms]
  double clip = 0.2;
  double gradient_scale = 0.0;
  View losses;  // f64 [rows, 1]
};

/// A cache holds [keys | values] of all kv heads, shape.sequence positions for each sequence, one
/// sequence after another. Packed rows are those of attention.
class PolicyKernels {
 public:
  virtual ~PolicyKernels() = default;
  virtual void loss(const PolicyLoss& what) = 0;
  /// Copies keys and values of positions `first`, first + 1, ... of `sequences` sequences, whose
  /// packed rows are equally many each. With a cache for n times as many sequences, each one is
  /// copied n times in a row.
  virtual void store(const AttentionShape& shape, View packed, std::int64_t sequences,
                     std::int64_t first, View cache) = 0;
  /// Attention of one query per sequence, at `position`, over the cache's positions up to its own.
  virtual void attend(const AttentionShape& shape, View packed, std::int64_t position, View cache,
                      View output) = 0;
  /// tokens[i] (int32) is drawn from softmax(logits[i] / temperature) by chances[i] (f32, in [0,
  /// 1)), or is the likeliest one if `temperature` is 0; log_probabilities[i] (f32) is that of the
  /// token in softmax(logits[i]).
  virtual void choose(View logits, View chances, double temperature, View tokens,
                      View log_probabilities) = 0;
};

}  // namespace bench::training
