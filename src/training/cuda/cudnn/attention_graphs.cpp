#include "training/cuda/cudnn/attention_graphs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/elements.h"
#include "core/error.h"

namespace bench::cudnn {

using training::AttentionBackward;
using training::AttentionKernels;
using training::AttentionShape;
using training::View;

double worst_head(const std::vector<double>& found, const std::vector<double>& right,
                  std::int64_t heads, std::int64_t rows) {
  const std::int64_t all = static_cast<std::int64_t>(right.size());
  const std::int64_t columns = all / rows, width = columns / heads;
  double worst = 0.0;
  for (std::int64_t head = 0; head < heads; ++head) {
    double difference = 0.0, size = 0.0;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < width; ++i) {
        const auto at = static_cast<std::size_t>(row * columns + head * width + i);
        difference += (found[at] - right[at]) * (found[at] - right[at]);
        size += right[at] * right[at];
      }
    const double share = difference == 0.0 ? 0.0 : std::sqrt(difference / size);
    if (!(share <= worst)) worst = share;
    if (!std::isfinite(worst)) return std::numeric_limits<double>::infinity();
  }
  return worst;
}

void AttentionChoices::forward(AttentionKernels& own, const AttentionShape& shape, View packed,
                               View output, View log_sum) {
  const AttentionProblem problem{shape, packed.rows / shape.sequence, packed.dtype};
  const Call call = [&](AttentionKernels& kernels) {
    kernels.forward(shape, packed, output, log_sum);
  };
  const bool library = takes_library(own, problem, Pass::forward, call,
                                     {{output, shape.heads}, {log_sum, shape.heads}});
  call(library ? *library_ : own);
}

void AttentionChoices::backward(AttentionKernels& own, const AttentionShape& shape,
                                const AttentionBackward& what) {
  const AttentionProblem problem{shape, what.packed.rows / shape.sequence, what.packed.dtype};
  // Tried with another gradient, because a head that starts at zero returns a zero gradient.
  AttentionBackward tried = what;
  tried.output_gradient = what.output;
  const Call call = [&](AttentionKernels& kernels) { kernels.backward(shape, tried); };
  const bool library =
      !what.add && takes_library(own, problem, Pass::backward, call,
                                 {{what.packed_gradient, shape.heads + 2 * shape.kv_heads}});
  (library ? *library_ : own).backward(shape, what);
}

bool AttentionChoices::takes_library(AttentionKernels& own, const AttentionProblem& problem,
                                     Pass pass, const Call& call,
                                     const std::vector<Output>& written) {
  if (own_only_) return false;
  const auto found = std::find_if(choices_.begin(), choices_.end(), [&](const Choice& choice) {
    return choice.pass == pass && choice.problem == problem;
  });
  if (found != choices_.end()) {
    found->used = true;
    return found->uses_library();
  }
  if (device_.recording()) return false;
  choices_.push_back(try_library(own, problem, pass, call, written));
  return choices_.back().uses_library();
}

AttentionChoices::Choice AttentionChoices::try_library(AttentionKernels& own,
                                                       const AttentionProblem& problem, Pass pass,
                                                       const Call& call,
                                                       const std::vector<Output>& written) {
  Choice choice{problem, pass};
  choice.reason = refused(problem);
  if (choice.reason.empty()) try {
      if (library_ == nullptr) library_ = open_();
      choice.reason = compare(own, problem.shape.sequence, call, written);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::environment)
        throw;  // a bad ID in the step, reported by the wait
      choice.reason = error.what();
    }
  return choice;
}

/// Leaves the outputs undefined: the caller computes them again.
std::string AttentionChoices::compare(AttentionKernels& own, std::int64_t sequence,
                                      const Call& call, const std::vector<Output>& written) {
  call(own);
  std::vector<std::vector<double>> right;
  for (const Output& one : written) {
    right.push_back(last_sequence(one, sequence));
    clear_last_sequence(one, sequence);  // our results must not hide missing writes of the library
  }
  call(*library_);
  for (std::size_t i = 0; i < written.size(); ++i) {
    const double worst =
        worst_head(last_sequence(written[i], sequence), right[i], written[i].heads, sequence);
    if (!(worst <= kAgreement))
      return fmt::format("{} differs from own by {:.2g} of a head's results, limit {}",
                         library_->name(), worst, kAgreement);
  }
  const double theirs = device_.seconds([&] { call(*library_); });
  const double ours = device_.seconds([&] { call(own); });
  return theirs < ours ? "" : library_->name() + " is slower";
}

AttentionChoices::Bytes AttentionChoices::bytes_of_last(const Output& written,
                                                        std::int64_t sequence) const {
  const View& view = written.view;
  const std::int64_t row = view.columns * static_cast<std::int64_t>(size_of(view.dtype));
  return {view.as<std::byte>() + (view.rows - sequence) * row, sequence * row};
}

std::vector<double> AttentionChoices::last_sequence(const Output& written,
                                                    std::int64_t sequence) const {
  const Bytes there = bytes_of_last(written, sequence);
  std::vector<std::byte> bytes(static_cast<std::size_t>(there.size));
  device_.memory->download(there.data, bytes.data(), there.size);
  std::vector<double> values(bytes.size() / size_of(written.view.dtype));
  decode(bytes.data(), written.view.dtype, false, values);
  return values;
}

void AttentionChoices::clear_last_sequence(const Output& written, std::int64_t sequence) const {
  const Bytes there = bytes_of_last(written, sequence);
  const std::vector<std::byte> zeros(static_cast<std::size_t>(there.size));
  device_.memory->upload(zeros.data(), there.data, there.size);
}

void AttentionChoices::begin(bool own_only) {
  own_only_ = own_only;
  for (Choice& choice : choices_) choice.used = false;
}

std::string AttentionChoices::implementations(Pass pass) const {
  if (own_only_) return "own (deterministic results requested)";
  std::vector<std::string> names;
  for (const Choice& choice : choices_) {
    if (choice.pass != pass || !choice.used) continue;
    const std::string name =
        choice.uses_library() ? library_->name() : "own (" + choice.reason + ")";
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names.empty() ? "own" : fmt::format("{}", fmt::join(names, ", "));
}

std::string AttentionChoices::text() const {
  const std::string forward = implementations(Pass::forward),
                    backward = implementations(Pass::backward);
  return forward == backward ? forward : "forward " + forward + ", backward " + backward;
}

namespace {

DataType type_of(Dtype dtype) { return dtype == Dtype::f16 ? DataType::f16 : DataType::bf16; }

/// The tensors of a problem in the layout of our kernels.
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
  /// Memory in cuDNN's order.
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

/// query key^T / sqrt(dim), unmasked.
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
