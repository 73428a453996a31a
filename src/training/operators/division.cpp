#include "training/operators/division.h"

#include <memory>
#include <string_view>

namespace bench::training {
namespace {

void copy_unless_shared(const Frame& f) {
  if (f.output.data != f.inputs[0].data) f.kernels->elementwise->copy(f.inputs[0], f.output, false);
}

RankKernels& ranks_of(const Frame& f) {
  require(f.kernels->ranks != nullptr, "division", "the kernels reach no other ranks");
  return *f.kernels->ranks;
}

class SharedByRanks final : public Operator {
 public:
  std::string_view name() const override { return "shared_by_ranks"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override { copy_unless_shared(f); }
  void backward(const Frame& f) const override {
    if (!f.input_gradients[0]) return;
    ranks_of(f).sum(f.output_gradient);
    f.pass_gradient(0);
  }
};

class SumOverRanks final : public Operator {
 public:
  std::string_view name() const override { return "sum_over_ranks"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    copy_unless_shared(f);
    ranks_of(f).sum(f.output);
  }
  void backward(const Frame& f) const override { f.pass_gradient(0); }
};

/// So that recomputation of x cannot overwrite a gradient that was received in its place.
class Sent final : public Operator {
 public:
  std::string_view name() const override { return "sent"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override { copy_unless_shared(f); }
  void backward(const Frame& f) const override { f.pass_gradient(0); }
};

/// Takes the place of a loss: what it would write over its input arrives from the next stage.
class StageEndOperator final : public Operator {
 public:
  std::string_view name() const override { return "stage_end"; }
  bool is_loss() const override { return true; }
  void forward(const Frame&) const override {}
  void backward(const Frame&) const override {}
};

}  // namespace

Var shared_by_ranks(Var x) {
  return x.graph->apply(std::make_unique<SharedByRanks>(), {x}, x.shape());
}

Var sum_over_ranks(Var x) {
  return x.graph->apply(std::make_unique<SumOverRanks>(), {x}, x.shape());
}

StageEnd end_stage(Var x) {
  StageEnd end;
  end.sent = x.graph->apply(std::make_unique<Sent>(), {x}, x.shape());
  end.losses = x.graph->apply(std::make_unique<StageEndOperator>(), {end.sent},
                              {x.shape().rows(), 1}, Dtype::f64);
  return end;
}

}  // namespace bench::training
