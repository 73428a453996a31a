#include "probes/training/backends/cuda/cudnn/attention_graphs.h"

#include <cmath>
#include <limits>
#include <utility>

namespace bench::cudnn {
namespace {

DataType type_of(Dtype dtype) { return dtype == Dtype::f16 ? DataType::f16 : DataType::bf16; }

/// The tensors of a problem, each where our kernels expect it.
class Tensors {
 public:
  Tensors(GraphBuilder& builder, const AttentionProblem& problem)
      : builder_(builder),
        shape_(problem.shape),
        batch_(problem.batch),
        type_(type_of(problem.dtype)) {}

  int packed(std::int64_t id, std::int64_t heads) { return builder_.tensor(rows_of(id, heads)); }
  /// cuDNN expects keys and values column-major for the GEMM with queries.
  int packed_transposed(std::int64_t id) {
    GraphTensor tensor = rows_of(id, shape_.kv_heads);
    std::swap(tensor.sizes[2], tensor.sizes[3]);
    std::swap(tensor.strides[2], tensor.strides[3]);
    return builder_.tensor(tensor);
  }
  int output(std::int64_t id) {
    return builder_.tensor({id, type_, sizes(shape_.head_dim), between(shape_.head_dim)});
  }
  int log_sum() { return builder_.tensor({kLogSum, DataType::f32, sizes(1), between(1)}); }
  /// Of cuDNN's own, in its own order.
  int scratch(std::int64_t id, std::int64_t columns) {
    return builder_.tensor({id, DataType::f32, sizes(columns), packed_strides(sizes(columns))});
  }
  int scale() {
    return builder_.constant(kScale, 1.0f / std::sqrt(static_cast<float>(shape_.head_dim)));
  }
  int hidden() { return builder_.constant(kHidden, -std::numeric_limits<float>::infinity()); }
  DataType type() const { return type_; }

 private:
  Extents sizes(std::int64_t columns) const {
    return {batch_, shape_.heads, shape_.sequence, columns};
  }
  /// Strides of [rows, heads x columns].
  Extents between(std::int64_t columns) const {
    const std::int64_t row = shape_.heads * columns;
    return {shape_.sequence * row, columns, row, 1};
  }
  GraphTensor rows_of(std::int64_t id, std::int64_t heads) const {
    const std::int64_t row = shape_.packed_columns();
    return {id,
            type_,
            {batch_, heads, shape_.sequence, shape_.head_dim},
            {shape_.sequence * row, shape_.head_dim, row, 1}};
  }

  GraphBuilder& builder_;
  const training::AttentionShape& shape_;
  std::int64_t batch_;
  DataType type_;
};

/// query key^T / sqrt(dim), not hidden yet.
int scores_of(GraphBuilder& to, int query, int key, int scale) {
  return to.pointwise(PointwiseMode::multiply, {to.matmul(query, key), scale});
}

/// Gradients of keys or values: one GEMM for each query head, added up in groups where
/// several share a head.
void key_gradient(GraphBuilder& to, Tensors& tensors, const training::AttentionShape& shape,
                  int weights, int rows, std::int64_t id) {
  const int result = tensors.packed(id, shape.kv_heads);
  if (shape.heads == shape.kv_heads)
    to.matmul(weights, rows, result);
  else
    to.reduce_into(ReductionOperator::add, to.matmul(weights, rows, tensors.type()), result);
}

}  // namespace

std::string refused(const AttentionProblem& problem) {
  const training::AttentionShape& shape = problem.shape;
  if (problem.dtype != Dtype::bf16 && problem.dtype != Dtype::f16)
    return "tensors are " + std::string(to_string(problem.dtype)) + ", not bf16 or f16";
  if (shape.shifted_kv_heads > 0) return "shifted key/value heads are not supported";
  if (shape.head_dim % 8 != 0 || shape.head_dim > 128)
    return "head dimension " + std::to_string(shape.head_dim) + " is not a multiple of 8 up to 128";
  if (shape.sequence % 128 != 0)
    return "sequence length " + std::to_string(shape.sequence) + " is not a multiple of 128";
  return {};
}

bool ignores_strides_of_sums(std::size_t cudnn_version, int compute_capability) {
  return compute_capability / 10 == 8 && cudnn_version < 92600;
}

OperationGraph attention_forward_graph(const AttentionProblem& problem) {
  using enum PointwiseMode;
  GraphBuilder to;
  Tensors tensors(to, problem);
  const int query = tensors.packed(kQuery, problem.shape.heads);
  const int key = tensors.packed_transposed(kKey);
  int scores = scores_of(to, query, key, tensors.scale());
  if (problem.shape.causal) scores = to.select_causal(scores, tensors.hidden());
  const int most = to.reduce(ReductionOperator::max, scores);
  const int weights = to.pointwise(exponential, {to.pointwise(subtract, {scores, most})});
  const int sum = to.reduce(ReductionOperator::add, weights);
  to.pointwise_into(add, {most, to.pointwise(logarithm, {sum})}, tensors.log_sum());
  const int shares = to.rounded(divide, {weights, sum}, tensors.type());
  to.matmul(shares, tensors.packed(kValue, problem.shape.kv_heads), tensors.output(kOutput));
  return to.take();
}

OperationGraph attention_backward_graph(const AttentionProblem& problem) {
  using enum PointwiseMode;
  const training::AttentionShape& shape = problem.shape;
  GraphBuilder to;
  Tensors tensors(to, problem);
  const int upper = tensors.output(kOutputGradient);
  const int of_rows =
      to.reduce(ReductionOperator::add, to.pointwise(multiply, {upper, tensors.output(kOutput)}));
  const int row_sums =
      to.pointwise_into(multiply, {of_rows, to.constant(kOne, 1.0f)}, tensors.scratch(kRowSums, 1));

  const int query = tensors.packed(kQuery, shape.heads), key = tensors.packed_transposed(kKey);
  const int scale = tensors.scale();
  int scores = to.pointwise(subtract, {scores_of(to, query, key, scale), tensors.log_sum()});
  if (shape.causal) scores = to.select_causal(scores, tensors.hidden());
  const int shares = to.pointwise(exponential, {scores});
  key_gradient(to, tensors, shape, to.transposed(shares, tensors.type()), upper, kValueGradient);

  const int of_shares = to.matmul(upper, tensors.packed_transposed(kValue));
  const int of_scores = to.pointwise(
      multiply,
      {to.pointwise(multiply, {to.pointwise(subtract, {of_shares, row_sums}), shares}), scale});
  key_gradient(to, tensors, shape, to.transposed(of_scores, tensors.type()), query, kKeyGradient);

  const int keys = to.transposed(key, tensors.type());
  const int sums = to.matmul(of_scores, keys, tensors.scratch(kQuerySums, shape.head_dim));
  to.pointwise_into(identity, {sums}, tensors.packed(kQueryGradient, shape.heads));
  return to.take();
}

}  // namespace bench::cudnn
