// Attention over packed rows [q heads | k heads | v heads], each head `head_dim` wide, and the
// rotation of q and k by their position (RoPE).
#pragma once

#include "probes/training/kernels/view.h"

namespace bench::training {

struct AttentionShape {
  std::int64_t sequence = 0;  // rows of one sequence; the batch is rows / sequence
  std::int64_t heads = 0;     // of queries
  std::int64_t kv_heads = 0;  // divides heads: query head h reads kv head h / (heads / kv_heads)
  std::int64_t head_dim = 0;
  bool causal = true;
  /// The first so many kv heads see the key of the position before (zero for the first position):
  /// "partial key offset". An induction head then needs one layer only.
  std::int64_t shifted_kv_heads = 0;

  std::int64_t packed_columns() const { return (heads + 2 * kv_heads) * head_dim; }
  std::int64_t output_columns() const { return heads * head_dim; }
  bool operator==(const AttentionShape&) const = default;
};

struct AttentionBackward {
  View packed, output, output_gradient;
  View log_sum;    // [rows, heads], of forward
  View workspace;  // [rows, heads]: row sums of output x output_gradient
  View packed_gradient;
  bool add = false;
};

class AttentionKernels {
 public:
  virtual ~AttentionKernels() = default;
  /// output[rows, heads x head_dim] = softmax(q k^T / sqrt(head_dim)) v; no sequence x sequence
  /// matrix is kept, only log_sum [rows, heads], the logarithm of each softmax's denominator.
  virtual void forward(const AttentionShape& shape, View packed, View output, View log_sum) = 0;
  virtual void backward(const AttentionShape& shape, const AttentionBackward& what) = 0;
};

class RopeKernels {
 public:
  virtual ~RopeKernels() = default;
  /// Rotates the pair (i, i + head_dim/2) of each q and k head by position x theta^(-2i/head_dim);
  /// v is copied. `angles` [sequence, head_dim] holds head_dim/2 cosines, then as many sines. The
  /// gradient is the rotation back. y may be x.
  virtual void rotate(const AttentionShape& shape, bool back, View x, View angles, View y,
                      bool add) = 0;
};

}  // namespace bench::training
