#include "probes/training/operators/attention.h"

namespace bench::training {
namespace {

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

}  // namespace

Var attention(Var packed, const AttentionShape& shape) {
  require(
      shape.head_dim > 0 && shape.head_dim <= kLargestHead, "attention",
      "the head dimension " + std::to_string(shape.head_dim) + " exceeds " +
          std::to_string(kLargestHead));
  require(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, "attention",
          std::to_string(shape.heads) + " heads are not a multiple of " + std::to_string(shape.kv_heads) +
              " key/value heads");
  require(shape.shifted_kv_heads >= 0 && shape.shifted_kv_heads <= shape.kv_heads, "attention",
          std::to_string(shape.shifted_kv_heads) + " of " + std::to_string(shape.kv_heads) +
              " key/value heads shifted");
  require(packed.shape().columns() == shape.packed_columns() && shape.sequence > 0 &&
              packed.shape().rows() % shape.sequence == 0,
          "attention",
          packed.shape().text() + " does not match packed rows of " + std::to_string(shape.packed_columns()) +
              " in sequences of " + std::to_string(shape.sequence));
  const std::int64_t rows = packed.shape().rows();
  return packed.graph->apply(std::make_unique<AttentionOperator>(shape, rows), {packed},
                             {rows, shape.output_columns()});
}

}  // namespace bench::training
