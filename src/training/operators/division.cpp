#include "training/operators/division.h"

#include <memory>
#include <string>
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

RankKernels& copies_of(const Frame& f) {
  require(f.kernels->copies != nullptr, "division", "the kernels reach no other copies");
  return *f.kernels->copies;
}

class SharedByRanks final : public Operator {
 public:
  explicit SharedByRanks(OperatorExchange exchange) : exchange_(exchange) {}
  OperatorExchange exchange() const override { return exchange_; }
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

 private:
  OperatorExchange exchange_;
};

class SumOverRanks final : public Operator {
 public:
  explicit SumOverRanks(OperatorExchange exchange) : exchange_(exchange) {}
  OperatorExchange exchange() const override { return exchange_; }
  std::string_view name() const override { return "sum_over_ranks"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  int in_place() const override { return 0; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    copy_unless_shared(f);
    ranks_of(f).sum(f.output);
  }
  void backward(const Frame& f) const override { f.pass_gradient(0); }

 private:
  OperatorExchange exchange_;
};

class GatherRows final : public Operator {
 public:
  explicit GatherRows(std::int64_t elements) : received_(elements) {}
  OperatorExchange exchange() const override { return {{received_, 0}, {}}; }
  std::string_view name() const override { return "gather_rows"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override { ranks_of(f).gather(f.inputs[0], f.output); }
  void backward(const Frame& f) const override {
    if (f.input_gradients[0])
      ranks_of(f).scatter_sum(f.output_gradient, f.input_gradients[0], f.adds(0));
  }

 private:
  std::int64_t received_;
};

class SumOwnRows final : public Operator {
 public:
  explicit SumOwnRows(std::int64_t elements) : received_(elements) {}
  OperatorExchange exchange() const override { return {{received_, 0}, {}}; }
  std::string_view name() const override { return "sum_own_rows"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override {
    ranks_of(f).scatter_sum(f.inputs[0], f.output, false);
  }
  void backward(const Frame& f) const override {
    if (!f.input_gradients[0]) return;
    require(!f.adds(0), "sum_own_rows", "something else uses x");
    ranks_of(f).gather(f.output_gradient, f.input_gradients[0]);
  }

 private:
  std::int64_t received_;
};

class GatherShards final : public Operator {
 public:
  GatherShards(bool keep, const ExchangeBuffers& buffers) : keep_(keep), buffers_(buffers) {}
  OperatorExchange exchange() const override { return {{}, buffers_}; }
  std::string_view name() const override { return "gather_shards"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  bool again_for_backward() const override { return !keep_; }
  void forward(const Frame& f) const override { copies_of(f).gather(f.inputs[0], f.output); }
  void backward(const Frame& f) const override {
    if (f.input_gradients[0])
      copies_of(f).scatter_sum(f.output_gradient, f.input_gradients[0], f.adds(0));
  }

 private:
  bool keep_;
  ExchangeBuffers buffers_;
};

Shape of_rank(Var x, int ranks, const std::string& op) {
  require(x.shape().rows() % ranks == 0, op,
          x.shape().text() + " over " + std::to_string(ranks) + " ranks");
  return {x.shape().rows() / ranks, x.shape().columns()};
}

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

class NextChunk final : public Operator {
 public:
  std::string_view name() const override { return "next_chunk"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame&) const override {}
  void backward(const Frame&) const override {}
};

}  // namespace

Var shared_by_ranks(Var x, int ranks) {
  const auto exchange = ExchangeBuffers::of_sum(x.shape().elements(), ranks);
  return x.graph->apply(std::make_unique<SharedByRanks>(OperatorExchange{exchange, {}}), {x},
                        x.shape());
}

Var sum_over_ranks(Var x, int ranks) {
  const auto exchange = ExchangeBuffers::of_sum(x.shape().elements(), ranks);
  return x.graph->apply(std::make_unique<SumOverRanks>(OperatorExchange{exchange, {}}), {x},
                        x.shape());
}

Var gather_rows(Var x, int ranks) {
  return x.graph->apply(std::make_unique<GatherRows>(x.shape().elements() * ranks), {x},
                        {x.shape().rows() * ranks, x.shape().columns()});
}

Var sum_own_rows(Var x, int ranks) {
  return x.graph->apply(std::make_unique<SumOwnRows>(x.shape().elements()), {x},
                        of_rank(x, ranks, "sum_own_rows"));
}

Var gather_shards(Var shard, const Shape& whole, bool keep) {
  const int copies = shard.graph->tensor(shard.id).parameter.shard.ranks;
  const auto buffers = ExchangeBuffers::of_sum(whole.elements(), copies);
  return shard.graph->apply(std::make_unique<GatherShards>(keep, buffers), {shard}, whole);
}

StageEnd end_stage(Var x, std::int64_t rows) {
  StageEnd end;
  end.sent = x.graph->apply(std::make_unique<Sent>(), {x}, x.shape());
  end.losses =
      x.graph->apply(std::make_unique<StageEndOperator>(), {end.sent}, {rows, 1}, Dtype::f64);
  return end;
}

Var next_chunk(Var x) { return x.graph->apply(std::make_unique<NextChunk>(), {x}, x.shape()); }

}  // namespace bench::training
