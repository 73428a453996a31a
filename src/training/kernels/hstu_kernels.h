// Kernels of hierarchical sequential transduction units (HSTU, arXiv 2402.17152): pointwise
// attention whose weights are SiLUs of scores instead of a softmax, over sequences of different
// lengths; and the loss of a sequence of actions.
#pragma once

#include <cstdint>

#include "training/kernels/view.h"

namespace bench::training {

/// Packed rows [u heads | v heads | q heads | k heads], each head `head_dim` wide.
struct HstuAttentionShape {
  std::int64_t sequence = 0;  // rows of one sequence, of which the first ones are its events
  std::int64_t heads = 0, head_dim = 0;
  std::int64_t buckets = 0;  // of the time between two events

  std::int64_t width() const { return heads * head_dim; }
  std::int64_t packed_columns() const { return 4 * width(); }
  bool operator==(const HstuAttentionShape&) const = default;
};

/// The bucket of a time between two events: 0 for 0, else 1 + floor(log2(time)), at most `buckets`
/// - 1. Integers, so that all devices agree.
constexpr std::int64_t time_bucket(std::int32_t time, std::int64_t buckets) {
  std::int64_t bucket = 0;
  for (; time > 0 && bucket < buckets - 1; time >>= 1) ++bucket;
  return bucket;
}

/// The arguments of the attention's forward pass.
struct HstuInputs {
  View packed;         // [rows, 4 heads x head_dim]
  View lengths;        // int32 [sequences, 1]: 0 to HstuAttentionShape::sequence
  View times;          // int32 [rows, 1], never falling within a sequence
  View position_bias;  // [heads, sequence], by the distance of two events
  View time_bias;      // [heads, buckets], by the bucket of the time between them
};

/// Gradients are added if their `add` is set, else written. None is absent.
struct HstuBackward {
  HstuInputs in;
  View output_gradient;
  View packed_gradient;  // that of u is zero
  View position_gradient, time_gradient;
  bool add_packed = false, add_position = false, add_time = false;
};

/// Gradients may be absent; they are added if their `add` is set, else written.
struct HstuGateBackward {
  View x, packed;  // arguments of forward
  View y_gradient;
  View x_gradient, packed_gradient;  // that of all but u is zero
  bool add_x = false, add_packed = false;
};

class HstuKernels {
 public:
  virtual ~HstuKernels() = default;
  /// y = x sigmoid(x). y may not be x: the backward pass reads x.
  virtual void silu(View x, View y) = 0;
  virtual void silu_backward(View x, View y_gradient, View x_gradient, bool add) = 0;
  /// Of event i: output = sum over events j <= i of silu(z) v_j / sequence, z = <q_i, k_j> /
  /// sqrt(head_dim) + position_bias[i - j] + time_bias[bucket of the time between them]. Rows
  /// beyond a sequence's length are zero. output [rows, heads x head_dim].
  virtual void attention(const HstuAttentionShape& shape, const HstuInputs& in, View output) = 0;
  virtual void attention_backward(const HstuAttentionShape& shape, const HstuBackward& what) = 0;
  /// y = x u, elementwise, u of the packed rows; y may be x.
  virtual void gate(View x, View packed, View y) = 0;
  virtual void gate_backward(const HstuGateBackward& what) = 0;
  /// RecommenderKernels::binary_cross_entropy() in any type, with int32 labels. A negative label
  /// is ignored: loss and gradient are 0.
  virtual void event_losses(View logits, View labels, double gradient_scale, View losses) = 0;
};

}  // namespace bench::training
