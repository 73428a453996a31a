#include "tests/training/faulty_kernels.h"

namespace bench::training {
namespace {

class FaultyAttention final : public AttentionKernels {
 public:
  enum class Kind { no_key_gradient, no_row_sum };
  FaultyAttention(std::unique_ptr<AttentionKernels> real, Kind kind)
      : real_(std::move(real)), kind_(kind) {}

  void forward(const AttentionShape& shape, View packed, View output, View log_sum) override {
    real_->forward(shape, packed, output, log_sum);
  }
  void backward(const AttentionShape& shape, const AttentionBackward& what) override {
    AttentionBackward changed = what;
    std::vector<double> zeros(static_cast<std::size_t>(what.output.elements()));
    if (kind_ == Kind::no_row_sum) changed.output.data = zeros.data();  // its row sums are 0
    real_->backward(shape, changed);
    if (kind_ == Kind::no_key_gradient) erase_keys(shape, what.packed_gradient);
  }
  void join(const AttentionShape& shape, const AttentionPart& part,
            const AttentionPart& sum) override {
    real_->join(shape, part, sum);
  }

 private:
  static void erase_keys(const AttentionShape& shape, View gradient) {
    for (std::int64_t i = 0; i < gradient.rows; ++i)
      for (std::int64_t j = 0; j < shape.kv_heads * shape.head_dim; ++j)
        gradient.as<double>()[i * gradient.columns + shape.heads * shape.head_dim + j] = 0.0;
  }
  std::unique_ptr<AttentionKernels> real_;
  Kind kind_;
};

class NormWithoutMeanTerm final : public NormKernels {
 public:
  explicit NormWithoutMeanTerm(std::unique_ptr<NormKernels> real) : real_(std::move(real)) {}
  void rms_forward(View x, View gain, double epsilon, View y, View statistics) override {
    real_->rms_forward(x, gain, epsilon, y, statistics);
  }
  void rms_backward(const NormBackward& what) override {
    std::vector<double> before(static_cast<std::size_t>(what.x.elements()));
    double* dx = what.input_gradient.as<double>();
    if (what.add_input) before.assign(dx, dx + before.size());
    real_->rms_backward(what);
    const std::int64_t n = what.x.columns;
    for (std::int64_t i = 0; i < what.x.elements(); ++i)
      dx[i] = before[static_cast<std::size_t>(i)] + what.output_gradient.as<double>()[i] *
                                                        what.gain.as<double>()[i % n] *
                                                        what.statistics.as<double>()[i / n];
  }
  void layer_forward(View x, View gain, View bias, double epsilon, View y, View kept) override {
    real_->layer_forward(x, gain, bias, epsilon, y, kept);
  }
  void layer_backward(const NormBackward& what) override { real_->layer_backward(what); }

 private:
  std::unique_ptr<NormKernels> real_;
};

class RopeTheWrongWay final : public RopeKernels {
 public:
  explicit RopeTheWrongWay(std::unique_ptr<RopeKernels> real) : real_(std::move(real)) {}
  void rotate(const AttentionShape& shape, bool, View x, View angles, View y, bool add) override {
    real_->rotate(shape, false, x, angles, y, add);  // back is forward too
  }

 private:
  std::unique_ptr<RopeKernels> real_;
};

}  // namespace

std::vector<Fault> llama_faults() {
  const auto attention = [](FaultyAttention::Kind kind) {
    return [kind](KernelSet& set) {
      set.attention = std::make_unique<FaultyAttention>(std::move(set.attention), kind);
    };
  };
  return {
      {"dK = 0", attention(FaultyAttention::Kind::no_key_gradient)},
      {"softmax backward without its row sum", attention(FaultyAttention::Kind::no_row_sum)},
      {"RMSNorm backward without its mean term",
       [](KernelSet& set) {
         set.norm = std::make_unique<NormWithoutMeanTerm>(std::move(set.norm));
       }},
      {"RoPE backward of the wrong sign",
       [](KernelSet& set) { set.rope = std::make_unique<RopeTheWrongWay>(std::move(set.rope)); }},
  };
}

}  // namespace bench::training
