#include "training/operators/vocabulary.h"

#include <memory>
#include <string>
#include <string_view>

namespace bench::training {
namespace {

class EmbeddingPart final : public Operator {
 public:
  explicit EmbeddingPart(const VocabularyPart& part) : part_(part) {}
  std::string_view name() const override { return "embedding_part"; }
  bool looks_up_rows() const override { return true; }
  bool backward_reads_input(std::size_t input) const override { return input == 0; }
  void forward(const Frame& f) const override {
    f.kernels->vocabulary->look_up(f.inputs[0], part_, f.inputs[1], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->vocabulary->look_up_backward(f.inputs[0], part_, f.output_gradient,
                                            f.input_gradients[1], f.adds(1));
  }

 private:
  VocabularyPart part_;
};

class DividedCrossEntropy final : public Operator {
 public:
  DividedCrossEntropy(const VocabularyPart& part, std::int64_t rows, int ranks)
      : part_(part), rows_(rows), ranks_(ranks) {}
  std::string_view name() const override { return "divided_cross_entropy"; }
  bool is_loss() const override { return true; }
  /// The statistics of all ranks, then those of this one.
  std::int64_t forward_workspace() const override {
    return (ranks_ + 1) * rows_ * kLogitStatistics;
  }
  void forward(const Frame& f) const override {
    require(f.kernels->ranks != nullptr, "divided_cross_entropy",
            "the kernels reach no other ranks");
    const View both{f.workspace.data, (ranks_ + 1) * rows_, kLogitStatistics, f.workspace.dtype};
    const View all = rows_of(both, 0, ranks_ * rows_), own = rows_of(both, ranks_ * rows_, rows_);
    f.kernels->vocabulary->summarize_logits(f.inputs[0], f.inputs[1], part_, own);
    f.kernels->ranks->gather(own, all);
    f.kernels->vocabulary->cross_entropy(
        {f.inputs[0], f.inputs[1], part_, all, f.loss_scale(), f.output});
  }
  void backward(const Frame&) const override {}  // forward has computed it

 private:
  VocabularyPart part_;
  std::int64_t rows_;
  int ranks_;
};

}  // namespace

Var embedding_part(Var tokens, Var table, const VocabularyPart& part) {
  require(tokens.shape().columns() == 1 && part.first >= 0 &&
              part.first + table.shape().rows() <= part.all,
          "embedding_part",
          "tokens are " + tokens.shape().text() + ", the table " + table.shape().text() + " from " +
              std::to_string(part.first) + " of " + std::to_string(part.all));
  return tokens.graph->apply(std::make_unique<EmbeddingPart>(part), {tokens, table},
                             {tokens.shape().rows(), table.shape().columns()});
}

Var divided_cross_entropy(Var logits, Var targets, const VocabularyPart& part, int ranks) {
  const std::int64_t rows = logits.shape().rows();
  require(targets.shape().elements() == rows && part.first >= 0 &&
              part.first + logits.shape().columns() <= part.all,
          "divided_cross_entropy",
          "logits are " + logits.shape().text() + " from " + std::to_string(part.first) + " of " +
              std::to_string(part.all) + ", targets " + targets.shape().text());
  return logits.graph->apply(std::make_unique<DividedCrossEntropy>(part, rows, ranks),
                             {logits, targets}, {rows, 1}, Dtype::f64);
}

}  // namespace bench::training
