#include "probes/training/operators/concat.h"

namespace bench::training {
namespace {

class ConcatColumns final : public Operator {
 public:
  std::string_view name() const override { return "concat_columns"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override {
    std::int64_t column = 0;
    for (const View& input : f.inputs) {
      f.kernels->recommender->copy_columns(input, 0, f.output, column, input.columns, false);
      column += input.columns;
    }
  }
  void backward(const Frame& f) const override {
    std::int64_t column = 0;
    for (std::size_t i = 0; i < f.inputs.size(); ++i) {
      const std::int64_t columns = f.inputs[i].columns;
      if (f.input_gradients[i])
        f.kernels->recommender->copy_columns(f.output_gradient, column, f.input_gradients[i], 0,
                                             columns, f.adds(i));
      column += columns;
    }
  }
};

}  // namespace

Var concat_columns(Var a, Var b) {
  require(a.shape().rows() == b.shape().rows(), "concat_columns",
          a.shape().text() + " and " + b.shape().text());
  return a.graph->apply(std::make_unique<ConcatColumns>(), {a, b},
                        {a.shape().rows(), a.shape().columns() + b.shape().columns()});
}

}  // namespace bench::training
