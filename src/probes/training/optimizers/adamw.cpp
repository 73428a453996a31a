#include <cmath>
#include <utility>

#include "probes/training/optimizers/optimizer.h"

namespace bench::training {
namespace {

class Adamw final : public Optimizer {
 public:
  explicit Adamw(const AdamwOptions& options) : options_(options) {}

  std::string name() const override { return "adamw"; }
  void prepare(std::int64_t elements, Dtype dtype, std::shared_ptr<Memory> memory) override {
    const Dtype wide = accumulator_of(dtype);
    first_ = StateArray(elements, wide, "AdamW's first moments", memory);
    second_ = StateArray(elements, wide, "AdamW's second moments", memory);
    master_ = master_weights(elements, dtype, std::move(memory));
  }
  void update(const KernelSet& kernels, const UpdateRange& range,
              const UpdateScalars& scalars) const override {
    const std::int64_t count = range.parameters.elements();
    const double step = static_cast<double>(scalars.step);
    AdamwRange what{range.parameters, range.gradients, first_.range(range.first, count),
                    second_.range(range.first, count)};
    what.master = master_.range(range.first, count);
    what.start = scalars.step == 1;
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
  std::int64_t state_bytes() const override {
    return first_.bytes() + second_.bytes() + master_.bytes();
  }
  std::vector<NamedView> state() const override {
    std::vector<NamedView> views{{"first_moments", first_.all()},
                                 {"second_moments", second_.all()}};
    if (master_) views.push_back({"master_weights", master_.all()});
    return views;
  }

 private:
  AdamwOptions options_;
  StateArray first_, second_, master_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(const AdamwOptions& options) {
  return std::make_unique<Adamw>(options);
}

}  // namespace bench::training
