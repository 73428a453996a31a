#include "probes/operators/measured_operators.h"

#include <cmath>
#include <memory>
#include <vector>

#include "training/optimizers/optimizer.h"

namespace bench {
namespace {

using training::AttentionShape;
using training::Frame;
using training::GemmOptions;
using training::Saved;
using training::Var;
using training::View;

class AttentionWithScores final : public training::Operator {
 public:
  AttentionWithScores(const AttentionShape& shape, std::int64_t rows)
      : shape_(shape), rows_(rows), first_(static_cast<std::size_t>(shape.sequence), 0) {}

  std::string_view name() const override { return "attention_with_scores"; }
  std::vector<Saved> saved() const override {
    return {{{rows_ * shape_.heads, shape_.sequence}, false}};
  }
  /// q, k, v and the output of a head, and a softmax's f64 per row.
  std::int64_t forward_workspace() const override {
    return shape_.sequence * (4 * shape_.head_dim + 2);
  }
  double flops() const override {
    return 2.0 * static_cast<double>(rows_) * static_cast<double>(shape_.sequence) *
           static_cast<double>(shape_.output_columns());
  }
  void forward(const Frame& f) const override {
    for (std::int64_t sequence = 0; sequence < rows_ / shape_.sequence; ++sequence)
      for (std::int64_t head = 0; head < shape_.heads; ++head) forward(f, sequence, head);
  }
  void backward(const Frame&) const override {}

 private:
  void forward(const Frame& f, std::int64_t sequence, std::int64_t head) const {
    const std::int64_t length = shape_.sequence, width = shape_.head_dim;
    const View packed = rows_of(f.inputs[0], sequence * length, length);
    const View output = rows_of(f.output, sequence * length, length);
    std::int64_t at = 0;  // in the workspace
    const auto piece = [&] {
      const View row{
          f.workspace.as<std::byte>() + static_cast<std::size_t>(at) * size_of(f.workspace.dtype),
          length, width, f.workspace.dtype};
      at += length * width;
      return row;
    };
    const View q = piece(), k = piece(), v = piece(), y = piece();
    const View losses{
        f.workspace.as<std::byte>() + static_cast<std::size_t>(at) * size_of(f.workspace.dtype),
        length, 1, Dtype::f64};
    const View scores = rows_of(f.saved[0], (sequence * shape_.heads + head) * length, length);
    auto& columns = *f.kernels->recommender;
    columns.copy_columns(packed, head * width, q, 0, width, false);
    columns.copy_columns(packed, (shape_.heads + head) * width, k, 0, width, false);
    columns.copy_columns(packed, (2 * shape_.heads + head) * width, v, 0, width, false);
    GemmOptions pairs;
    pairs.transpose_b = true;
    f.kernels->gemm->multiply(pairs, q, k, scores);
    if (scores.dtype == Dtype::f64)
      softmax<double>(f, scores, losses);
    else
      softmax<float>(f, scores, losses);
    f.kernels->gemm->multiply({}, scores, v, y);
    columns.copy_columns(y, 0, output, head * width, width, false);
  }

  /// Of the scores up to each row's own position. The kernel of the loss writes softmax - 1 for the
  /// first column, its target.
  template <class T>
  void softmax(const Frame& f, View scores, View losses) const {
    const T scale = static_cast<T>(1.0 / std::sqrt(static_cast<double>(shape_.head_dim)));
    for (std::int64_t i = 0; i < scores.rows; ++i) {
      T* row = scores.as<T>() + i * scores.columns;
      for (std::int64_t j = 0; j <= i; ++j) row[j] *= scale;
      for (std::int64_t j = i + 1; j < scores.columns; ++j) row[j] = T{-1e30F};
    }
    const View targets{const_cast<std::int32_t*>(first_.data()), scores.rows, 1, Dtype::int32};
    f.kernels->loss->cross_entropy(scores, targets, 1.0, losses);
    for (std::int64_t i = 0; i < scores.rows; ++i) scores.as<T>()[i * scores.columns] += T{1};
  }

  AttentionShape shape_;
  std::int64_t rows_;
  std::vector<std::int32_t> first_;
};

constexpr training::AdamwOptions kAdamw{0.9, 0.95, 1e-8, 0.1};
static_assert(sizeof(training::StepNumbers) == 4 * sizeof(double));
constexpr double kRate = 0.1;  // large, so that a wrong update is seen in the parameters
constexpr std::int64_t kStep = 10;

double correction(double beta) { return 1.0 / (1.0 - std::pow(beta, static_cast<double>(kStep))); }

class AdamwUpdate final : public training::Operator {
 public:
  std::string_view name() const override { return "adamw"; }
  int in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    training::AdamwRange range{f.output, f.inputs[1], f.inputs[2], f.inputs[3]};
    range.step = f.inputs[4].as<training::StepNumbers>();
    range.beta1 = kAdamw.beta1;
    range.beta2 = kAdamw.beta2;
    range.epsilon = kAdamw.epsilon;
    range.decay = kAdamw.decay;
    f.kernels->optimizer->adamw(range);
  }
  void backward(const Frame&) const override {}
};

class AdamwInPasses final : public training::Operator {
 public:
  explicit AdamwInPasses(std::int64_t parameters) : parameters_(parameters) {}
  std::string_view name() const override { return "adamw_in_passes"; }
  int in_place() const override { return 0; }
  std::int64_t forward_workspace() const override { return parameters_; }
  void forward(const Frame& f) const override {
    if (f.output.dtype == Dtype::f64)
      update<double>(f);
    else
      update<float>(f);
  }
  void backward(const Frame&) const override {}

 private:
  template <class T>
  void update(const Frame& f) const {
    T* __restrict parameter = f.output.as<T>();
    const T* __restrict gradient = f.inputs[1].as<T>();
    T* __restrict first = f.inputs[2].as<T>();
    T* __restrict second = f.inputs[3].as<T>();
    T* __restrict quotient = f.workspace.as<T>();
    const auto beta1 = static_cast<T>(kAdamw.beta1), beta2 = static_cast<T>(kAdamw.beta2);
    const auto kept = static_cast<T>(1.0 - kRate * kAdamw.decay);
    const auto correction2 = static_cast<T>(std::sqrt(correction(kAdamw.beta2)));
    const auto epsilon = static_cast<T>(kAdamw.epsilon);
    const auto rate = static_cast<T>(kRate * correction(kAdamw.beta1));
    const std::int64_t n = parameters_;
    for (std::int64_t i = 0; i < n; ++i) parameter[i] *= kept;
    for (std::int64_t i = 0; i < n; ++i) first[i] += (T{1} - beta1) * (gradient[i] - first[i]);
    for (std::int64_t i = 0; i < n; ++i) second[i] *= beta2;
    for (std::int64_t i = 0; i < n; ++i) second[i] += (T{1} - beta2) * gradient[i] * gradient[i];
    for (std::int64_t i = 0; i < n; ++i) quotient[i] = std::sqrt(second[i]);
    for (std::int64_t i = 0; i < n; ++i) quotient[i] *= correction2;
    for (std::int64_t i = 0; i < n; ++i) quotient[i] += epsilon;
    for (std::int64_t i = 0; i < n; ++i) parameter[i] -= rate * first[i] / quotient[i];
  }

  std::int64_t parameters_;
};

class EmbeddingBag final : public training::Operator {
 public:
  std::string_view name() const override { return "embedding_bag"; }
  void forward(const Frame& f) const override {
    const View &ids = f.inputs[0], &table = f.inputs[1];
    if (table.dtype == Dtype::f64) return sum_rows(ids, table, f.output);
    f.kernels->bags->pool({ids.as<std::int32_t>(), ids.rows, ids.columns, ids.columns}, table, 0,
                          f.output.as<float>(), f.output.columns);
  }
  void backward(const Frame&) const override {}

 private:
  static void sum_rows(View ids, View table, View y) {
    for (std::int64_t bag = 0; bag < ids.rows; ++bag) {
      double* sum = y.as<double>() + bag * y.columns;
      for (std::int64_t j = 0; j < y.columns; ++j) sum[j] = 0.0;
      for (std::int64_t i = 0; i < ids.columns; ++i) {
        const double* row =
            table.as<double>() + ids.as<std::int32_t>()[bag * ids.columns + i] * table.columns;
        for (std::int64_t j = 0; j < y.columns; ++j) sum[j] += row[j];
      }
    }
  }
};

void require_wide(Var x, const char* what) {
  training::require(!training::is_narrow(x.graph->compute()), what, "needs f32 or f64");
}

}  // namespace

Var attention_with_scores(Var packed, const AttentionShape& shape) {
  require_wide(packed, "attention_with_scores");
  training::require(shape.causal && shape.kv_heads == shape.heads && shape.shifted_kv_heads == 0 &&
                        packed.shape().columns() == shape.packed_columns() &&
                        packed.shape().rows() % shape.sequence == 0,
                    "attention_with_scores",
                    packed.shape().text() + " are not packed rows of causal heads");
  const std::int64_t rows = packed.shape().rows();
  return packed.graph->apply(std::make_unique<AttentionWithScores>(shape, rows), {packed},
                             {rows, shape.output_columns()});
}

std::vector<double> adamw_numbers() {
  return {kRate, 1.0, correction(kAdamw.beta1), correction(kAdamw.beta2)};
}

Var adamw_update(const AdamwVars& vars) {
  require_wide(vars.parameters, "adamw");
  return vars.parameters.graph->apply(
      std::make_unique<AdamwUpdate>(),
      {vars.parameters, vars.gradients, vars.first, vars.second, vars.numbers},
      vars.parameters.shape());
}

Var adamw_in_passes(const AdamwVars& vars) {
  require_wide(vars.parameters, "adamw_in_passes");
  return vars.parameters.graph->apply(
      std::make_unique<AdamwInPasses>(vars.parameters.shape().elements()),
      {vars.parameters, vars.gradients, vars.first, vars.second}, vars.parameters.shape());
}

Var embedding_bag(Var ids, Var table) {
  require_wide(table, "embedding_bag");
  return table.graph->apply(std::make_unique<EmbeddingBag>(), {ids, table},
                            {ids.shape().rows(), table.shape().columns()});
}

}  // namespace bench
