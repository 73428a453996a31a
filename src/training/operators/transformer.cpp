#include "training/operators/transformer.h"

#include <cmath>
#include <utility>

namespace bench::training {
namespace {

class Embedding final : public Operator {
 public:
  std::string_view name() const override { return "embedding"; }
  bool looks_up_rows() const override { return true; }
  bool backward_reads_input(std::size_t input) const override { return input == 0; }
  void forward(const Frame& f) const override {
    f.kernels->embedding->forward(f.inputs[0], f.inputs[1], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->embedding->backward(f.inputs[0], f.output_gradient, f.input_gradients[1], f.adds(1));
  }
};

class AddPositions final : public Operator {
 public:
  std::string_view name() const override { return "add_positions"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    f.kernels->embedding->add_positions(f.inputs[0], f.inputs[1], f.inputs[1].rows, f.output);
  }
  void backward(const Frame& f) const override {
    if (f.input_gradients[1])
      f.kernels->embedding->positions_backward(f.output_gradient, f.inputs[1].rows,
                                               f.input_gradients[1], f.adds(1));
    f.pass_gradient(0);
  }
};

class RopeOperator final : public Operator {
 public:
  explicit RopeOperator(const AttentionShape& shape) : shape_(shape) {}

  std::string_view name() const override { return "rope"; }
  bool backward_reads_input(std::size_t input) const override { return input == 1; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }

  void forward(const Frame& f) const override {
    f.kernels->rope->rotate(shape_, false, f.inputs[0], f.inputs[1], f.output, false);
  }
  void backward(const Frame& f) const override {
    f.kernels->rope->rotate(shape_, true, f.output_gradient, f.inputs[1], f.input_gradients[0],
                            f.adds(0));
  }

 private:
  AttentionShape shape_;
};

constexpr std::int64_t kLargestHead = 256;  // limit of the kernels' scratch space

class AttentionOperator final : public Operator {
 public:
  AttentionOperator(const AttentionShape& shape, std::int64_t rows) : shape_(shape), rows_(rows) {}

  std::string_view name() const override { return "attention"; }
  bool backward_reads_output() const override { return true; }
  std::vector<Saved> saved() const override { return {{{rows_, shape_.heads}}}; }
  std::int64_t backward_workspace() const override { return rows_ * shape_.heads; }
  double flops() const override {
    return (shape_.causal ? 2.0 : 4.0) * static_cast<double>(rows_) *
           static_cast<double>(shape_.sequence) * static_cast<double>(shape_.output_columns());
  }
  double repeated_flops() const override { return 0.5 * flops(); }  // Q K^T

  void forward(const Frame& f) const override {
    f.kernels->attention->forward(shape_, f.inputs[0], f.output, f.saved[0]);
  }
  void backward(const Frame& f) const override {
    f.kernels->attention->backward(shape_, {f.inputs[0], f.output, f.output_gradient, f.saved[0],
                                            f.workspace, f.input_gradients[0], f.adds(0)});
  }

 private:
  AttentionShape shape_;
  std::int64_t rows_;
};

class RmsNorm final : public Operator {
 public:
  RmsNorm(double epsilon, std::int64_t rows) : epsilon_(epsilon), rows_(rows) {}

  std::string_view name() const override { return "rms_norm"; }
  std::vector<Saved> saved() const override { return {{{rows_, 1}}}; }

  void forward(const Frame& f) const override {
    f.kernels->norm->rms_forward(f.inputs[0], f.inputs[1], epsilon_, f.output, f.saved[0]);
  }
  void backward(const Frame& f) const override {
    f.kernels->norm->rms_backward({f.inputs[0],
                                   f.inputs[1],
                                   f.saved[0],
                                   f.output_gradient,
                                   f.input_gradients[0],
                                   f.input_gradients[1],
                                   {},
                                   f.adds(0),
                                   f.adds(1),
                                   false});
  }

 private:
  double epsilon_;
  std::int64_t rows_;
};

class LayerNorm final : public Operator {
 public:
  LayerNorm(double epsilon, std::int64_t rows) : epsilon_(epsilon), rows_(rows) {}

  std::string_view name() const override { return "layer_norm"; }
  std::vector<Saved> saved() const override { return {{{rows_, 2}}}; }
  bool backward_reads_input(std::size_t input) const override { return input < 2; }

  void forward(const Frame& f) const override {
    f.kernels->norm->layer_forward(f.inputs[0], f.inputs[1], f.inputs[2], epsilon_, f.output,
                                   f.saved[0]);
  }
  void backward(const Frame& f) const override {
    f.kernels->norm->layer_backward({f.inputs[0], f.inputs[1], f.saved[0], f.output_gradient,
                                     f.input_gradients[0], f.input_gradients[1],
                                     f.input_gradients[2], f.adds(0), f.adds(1), f.adds(2)});
  }

 private:
  double epsilon_;
  std::int64_t rows_;
};

class Swiglu final : public Operator {
 public:
  std::string_view name() const override { return "swiglu"; }
  void forward(const Frame& f) const override {
    f.kernels->activation->swiglu_forward(f.inputs[0], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->activation->swiglu_backward(f.inputs[0], f.output_gradient, f.input_gradients[0],
                                           f.adds(0));
  }
};

class Gelu final : public Operator {
 public:
  std::string_view name() const override { return "gelu"; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    f.kernels->activation->gelu_forward(f.inputs[0], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->activation->gelu_backward(f.inputs[0], f.output_gradient, f.input_gradients[0],
                                         f.adds(0));
  }
};

class CrossEntropy final : public Operator {
 public:
  std::string_view name() const override { return "cross_entropy"; }
  bool is_loss() const override { return true; }
  void forward(const Frame& f) const override {
    f.kernels->loss->cross_entropy(f.inputs[0], f.inputs[1], f.loss_scale(), f.output);
  }
  void backward(const Frame&) const override {}  // forward has computed it
};

class PolicyLossOperator final : public Operator {
 public:
  explicit PolicyLossOperator(double clip) : clip_(clip) {}
  std::string_view name() const override { return "policy_loss"; }
  bool is_loss() const override { return true; }
  void forward(const Frame& f) const override {
    f.kernels->policy->loss(
        {f.inputs[0], f.inputs[1], f.inputs[2], clip_, f.loss_scale(), f.output});
  }
  void backward(const Frame&) const override {}  // forward has computed it

 private:
  double clip_;
};

}  // namespace

Var embedding(Var ids, Var table) {
  require(ids.shape().columns() == 1, "embedding", "ids are " + ids.shape().text());
  return table.graph->apply(std::make_unique<Embedding>(), {ids, table},
                            {ids.shape().rows(), table.shape().columns()});
}

Var add_positions(Var x, Var table) {
  require(x.shape().columns() == table.shape().columns() &&
              x.shape().rows() % table.shape().rows() == 0,
          "add_positions", "x is " + x.shape().text() + ", the table " + table.shape().text());
  return x.graph->apply(std::make_unique<AddPositions>(), {x, table}, x.shape());
}

Var rope_angles(Graph& graph, const AttentionShape& shape, double theta, const ContextPart& part) {
  require(shape.head_dim > 0 && shape.head_dim % 2 == 0, "rope",
          "the head dimension " + std::to_string(shape.head_dim) + " is odd");
  const std::int64_t half = shape.head_dim / 2;
  const std::int64_t tokens = part.tokens(shape.sequence);
  std::vector<double> values(static_cast<std::size_t>(tokens * shape.head_dim));
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(part.position(shape.sequence, t)) *
                           std::pow(theta, -static_cast<double>(i) / static_cast<double>(half));
      values[static_cast<std::size_t>(t * 2 * half + i)] = std::cos(angle);
      values[static_cast<std::size_t>(t * 2 * half + half + i)] = std::sin(angle);
    }
  return graph.constant("rope.angles", {tokens, shape.head_dim}, std::move(values));
}

Var rope(Var packed, Var angles, const AttentionShape& shape) {
  require(packed.shape().columns() == shape.packed_columns() &&
              packed.shape().rows() % shape.sequence == 0,
          "rope",
          packed.shape().text() + " does not match packed rows of " +
              std::to_string(shape.packed_columns()) + " in sequences of " +
              std::to_string(shape.sequence));
  require(angles.shape() == Shape({shape.sequence, shape.head_dim}), "rope",
          "angles are " + angles.shape().text());
  return packed.graph->apply(std::make_unique<RopeOperator>(shape), {packed, angles},
                             packed.shape());
}

void check_heads(const AttentionShape& shape, const std::string& op) {
  require(shape.head_dim > 0 && shape.head_dim <= kLargestHead, op,
          "the head dimension " + std::to_string(shape.head_dim) + " exceeds " +
              std::to_string(kLargestHead));
  require(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, op,
          std::to_string(shape.heads) + " heads are not a multiple of " +
              std::to_string(shape.kv_heads) + " key/value heads");
  require(shape.shifted_kv_heads >= 0 && shape.shifted_kv_heads <= shape.kv_heads, op,
          std::to_string(shape.shifted_kv_heads) + " of " + std::to_string(shape.kv_heads) +
              " key/value heads shifted");
}

Var attention(Var packed, const AttentionShape& shape) {
  check_heads(shape, "attention");
  require(packed.shape().columns() == shape.packed_columns() && shape.sequence > 0 &&
              packed.shape().rows() % shape.sequence == 0,
          "attention",
          packed.shape().text() + " does not match packed rows of " +
              std::to_string(shape.packed_columns()) + " in sequences of " +
              std::to_string(shape.sequence));
  const std::int64_t rows = packed.shape().rows();
  return packed.graph->apply(std::make_unique<AttentionOperator>(shape, rows), {packed},
                             {rows, shape.output_columns()});
}

Var rms_norm(Var x, Var gain, double epsilon) {
  require(gain.shape().elements() == x.shape().columns(), "rms_norm",
          "x is " + x.shape().text() + ", the gain " + gain.shape().text());
  const std::int64_t rows = x.shape().rows();
  return x.graph->apply(std::make_unique<RmsNorm>(epsilon, rows), {x, gain}, x.shape());
}

Var layer_norm(Var x, Var gain, Var bias, double epsilon) {
  require(gain.shape().elements() == x.shape().columns() &&
              bias.shape().elements() == x.shape().columns(),
          "layer_norm",
          "x is " + x.shape().text() + ", the gain " + gain.shape().text() + ", the bias " +
              bias.shape().text());
  const std::int64_t rows = x.shape().rows();
  return x.graph->apply(std::make_unique<LayerNorm>(epsilon, rows), {x, gain, bias}, x.shape());
}

Var swiglu(Var x) {
  require(x.shape().columns() % 2 == 0, "swiglu", "x is " + x.shape().text());
  return x.graph->apply(std::make_unique<Swiglu>(), {x},
                        {x.shape().rows(), x.shape().columns() / 2});
}

Var gelu(Var x) { return x.graph->apply(std::make_unique<Gelu>(), {x}, x.shape()); }

Var cross_entropy(Var logits, Var targets) {
  require(targets.shape().elements() == logits.shape().rows(), "cross_entropy",
          "logits are " + logits.shape().text() + ", targets " + targets.shape().text());
  return logits.graph->apply(std::make_unique<CrossEntropy>(), {logits, targets},
                             {logits.shape().rows(), 1}, Dtype::f64);
}

Var policy_loss(Var logits, Var targets, Var terms, double clip) {
  const std::int64_t rows = logits.shape().rows();
  require(targets.shape().elements() == rows && terms.shape() == Shape({rows, kPolicyTerms}),
          "policy_loss",
          "logits are " + logits.shape().text() + ", targets " + targets.shape().text() +
              ", terms " + terms.shape().text());
  return logits.graph->apply(std::make_unique<PolicyLossOperator>(clip), {logits, targets, terms},
                             {rows, 1}, Dtype::f64);
}

}  // namespace bench::training
