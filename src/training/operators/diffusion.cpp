#include "training/operators/diffusion.h"

#include <array>
#include <memory>
#include <string>

namespace bench::training {
namespace {

class Modulate final : public Operator {
 public:
  std::string_view name() const override { return "modulate"; }
  int gradient_in_place() const override { return 0; }
  void forward(const Frame& f) const override {
    f.kernels->diffusion->modulate(f.inputs[0], f.inputs[1], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->diffusion->modulate_backward({f.inputs[0], f.inputs[1], f.output_gradient,
                                             f.input_gradients[0], f.input_gradients[1], f.adds(0),
                                             f.adds(1)});
  }
};

class GatedAdd final : public Operator {
 public:
  std::string_view name() const override { return "gated_add"; }
  bool backward_reads_input(std::size_t input) const override { return input != kResidual; }
  int in_place() const override { return kResidual; }
  int gradient_in_place() const override { return kResidual; }
  void forward(const Frame& f) const override {
    f.kernels->diffusion->gate(f.inputs[kX], f.inputs[kGates], f.inputs[kResidual], f.output);
  }
  void backward(const Frame& f) const override {
    f.kernels->diffusion->gate_backward({f.inputs[kX], f.inputs[kGates], f.output_gradient,
                                         f.input_gradients[kX], f.input_gradients[kGates],
                                         f.adds(kX), f.adds(kGates)});
    f.pass_gradient(kResidual);  // last: it may share memory with the output's gradient
  }

 private:
  enum Input : std::size_t { kResidual, kX, kGates };
};

/// The rows of one of `samples` samples.
View sample_of(View x, std::int64_t samples, std::int64_t sample) {
  return rows_of(x, sample * (x.rows / samples), x.rows / samples);
}

class JoinSequences final : public Operator {
 public:
  JoinSequences(std::int64_t samples, std::int64_t a, std::int64_t b)
      : samples_(samples), counts_{a, b} {}
  std::string_view name() const override { return "join_sequences"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override {
    each_part(f.inputs, f.output, [&](std::size_t, View own, View joined) {
      f.kernels->elementwise->copy(own, joined, false);
    });
  }
  void backward(const Frame& f) const override {
    each_part(f.input_gradients, f.output_gradient, [&](std::size_t i, View own, View joined) {
      if (own) f.kernels->elementwise->copy(joined, own, f.adds(i));
    });
  }

 private:
  /// work(i, a sample's rows of tensor i, the same rows of `joined`); a tensor may be absent.
  template <class Work>
  void each_part(const std::vector<View>& parts, View joined, const Work& work) const {
    std::int64_t row = 0;
    for (std::int64_t sample = 0; sample < samples_; ++sample)
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const View own = parts[i] ? sample_of(parts[i], samples_, sample) : View{};
        work(i, own, rows_of(joined, row, counts_[i]));
        row += counts_[i];
      }
  }

  std::int64_t samples_;
  std::array<std::int64_t, 2> counts_;  // rows of a sample
};

class PartOfSequences final : public Operator {
 public:
  PartOfSequences(std::int64_t samples, std::int64_t first) : samples_(samples), first_(first) {}
  std::string_view name() const override { return "part_of_sequences"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override {
    each_sample(f.inputs[0], f.output,
                [&](View all, View part) { f.kernels->elementwise->copy(all, part, false); });
  }
  void backward(const Frame& f) const override {
    if (!f.adds(0)) f.kernels->diffusion->zero(f.input_gradients[0]);
    each_sample(f.input_gradients[0], f.output_gradient,
                [&](View all, View part) { f.kernels->elementwise->copy(part, all, f.adds(0)); });
  }

 private:
  template <class Work>
  void each_sample(View all, View part, const Work& work) const {
    for (std::int64_t sample = 0; sample < samples_; ++sample) {
      const View own = sample_of(part, samples_, sample);
      work(rows_of(sample_of(all, samples_, sample), first_, own.rows), own);
    }
  }

  std::int64_t samples_, first_;
};

class SquaredError final : public Operator {
 public:
  std::string_view name() const override { return "squared_error"; }
  bool is_loss() const override { return true; }
  void forward(const Frame& f) const override {
    f.kernels->diffusion->squared_error(f.inputs[0], f.inputs[1], f.loss_scale(), f.output);
  }
  void backward(const Frame&) const override {}  // forward has computed it
};

bool samples_divide(Var x, std::int64_t samples) {
  return samples > 0 && x.shape().rows() % samples == 0;
}

}  // namespace

Var modulate(Var x, Var vectors) {
  require(vectors.shape().columns() == 2 * x.shape().columns() &&
              samples_divide(x, vectors.shape().rows()),
          "modulate", "x is " + x.shape().text() + ", the vectors " + vectors.shape().text());
  return x.graph->apply(std::make_unique<Modulate>(), {x, vectors}, x.shape());
}

Var gated_add(Var residual, Var x, Var gates) {
  require(residual.shape() == x.shape() && gates.shape().columns() == x.shape().columns() &&
              samples_divide(x, gates.shape().rows()),
          "gated_add",
          "x is " + x.shape().text() + ", the residual " + residual.shape().text() +
              ", the gates " + gates.shape().text());
  return x.graph->apply(std::make_unique<GatedAdd>(), {residual, x, gates}, x.shape());
}

Var join_sequences(Var a, Var b, std::int64_t samples) {
  require(a.shape().columns() == b.shape().columns() && samples_divide(a, samples) &&
              samples_divide(b, samples),
          "join_sequences",
          a.shape().text() + " and " + b.shape().text() + " of " + std::to_string(samples) +
              " samples");
  return a.graph->apply(std::make_unique<JoinSequences>(samples, a.shape().rows() / samples,
                                                        b.shape().rows() / samples),
                        {a, b}, {a.shape().rows() + b.shape().rows(), a.shape().columns()});
}

Var part_of_sequences(Var x, std::int64_t samples, std::int64_t first, std::int64_t count) {
  require(samples_divide(x, samples) && first >= 0 && count > 0 &&
              first + count <= x.shape().rows() / samples,
          "part_of_sequences",
          std::to_string(count) + " rows from " + std::to_string(first) + " of each of " +
              std::to_string(samples) + " samples of " + x.shape().text());
  return x.graph->apply(std::make_unique<PartOfSequences>(samples, first), {x},
                        {samples * count, x.shape().columns()});
}

Var squared_error(Var predictions, Var targets) {
  require(predictions.shape() == targets.shape(), "squared_error",
          "predictions are " + predictions.shape().text() + ", targets " + targets.shape().text());
  return predictions.graph->apply(std::make_unique<SquaredError>(), {predictions, targets},
                                  {predictions.shape().rows(), 1}, Dtype::f64);
}

}  // namespace bench::training
