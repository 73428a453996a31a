#include "probes/training/operators/embedding.h"

namespace bench::training {
namespace {

class Embedding final : public Operator {
 public:
  std::string_view name() const override { return "embedding"; }
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
    if (f.input_gradients[0] && !f.shares_gradient(0))
      f.kernels->elementwise->copy(f.output_gradient, f.input_gradients[0], f.adds(0));
  }
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
  return x.graph->apply(std::make_unique<AddPositions>(), {x, table},
                        {x.shape().rows(), x.shape().columns()});
}

}  // namespace bench::training
