#include <cmath>

#include "probes/training/optimizers/optimizer.h"

namespace bench::training {
namespace {

class Adamw final : public Optimizer {
 public:
  explicit Adamw(const AdamwOptions& options) : options_(options) {}

  std::string name() const override { return "adamw"; }
  void prepare(std::int64_t elements, Dtype dtype) override {
    first_ = StateArray(elements, dtype, "AdamW's first moments");
    second_ = StateArray(elements, dtype, "AdamW's second moments");
  }
  void update(const KernelSet& kernels, const UpdateRange& range,
              const UpdateScalars& scalars) const override {
    const std::int64_t count = range.parameters.elements();
    const double step = static_cast<double>(scalars.step);
    AdamwRange what{range.parameters, range.gradients, first_.range(range.first, count),
                    second_.range(range.first, count)};
    what.rate = scalars.rate;
    what.beta1 = options_.beta1;
    what.beta2 = options_.beta2;
    what.epsilon = options_.epsilon;
    what.decay = range.decay ? options_.decay : 0.0;
    what.gradient_scale = scalars.gradient_scale;
    what.correction1 = 1.0 - std::pow(options_.beta1, step);
    what.correction2 = 1.0 - std::pow(options_.beta2, step);
    kernels.optimizer->adamw(what);
  }
  std::int64_t state_bytes() const override { return first_.bytes() + second_.bytes(); }
  std::vector<NamedView> state() const override {
    return {{"first_moments", first_.all()}, {"second_moments", second_.all()}};
  }

 private:
  AdamwOptions options_;
  StateArray first_, second_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(const AdamwOptions& options) {
  return std::make_unique<Adamw>(options);
}

}  // namespace bench::training
