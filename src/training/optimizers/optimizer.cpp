#include "training/optimizers/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace bench::training {
namespace {

/// Progress from `begin` to `end`, as a share.
double progress(double step, double begin, double end) {
  return end > begin ? std::clamp((step - begin) / (end - begin), 0.0, 1.0) : 0.0;
}

double share(const Schedule& s, double step) {
  const double end = static_cast<double>(s.horizon), warm = static_cast<double>(s.warmup);
  switch (s.shape) {
    case Schedule::Shape::constant:
      return 1.0;
    case Schedule::Shape::linear:
      return 1.0 - progress(step, warm, end);
    case Schedule::Shape::cosine:
      return 0.5 * (1.0 + std::cos(std::numbers::pi * progress(step, warm, end)));
    case Schedule::Shape::linear_last:
      return 1.0 - progress(step, end * (1.0 - s.last), end);
  }
  return 1.0;
}

class Adamw final : public Optimizer {
 public:
  explicit Adamw(const AdamwOptions& options) : options_(options) {}

  std::string name() const override { return "adamw"; }
  void prepare(std::int64_t elements, Dtype dtype, std::shared_ptr<Memory> memory) override {
    const Dtype wide = accumulator_of(dtype);
    first_ = StateArray(elements, wide, "AdamW first moments", memory);
    second_ = StateArray(elements, wide, "AdamW second moments", memory);
    master_ =
        is_narrow(dtype) ? StateArray(elements, wide, "master weights", memory) : StateArray();
    step_ = StepBlock(std::move(memory));
  }
  void begin_step(const UpdateScalars& scalars) override {
    const double step = static_cast<double>(scalars.step);
    step_.set({scalars.rate, scalars.gradient_scale, 1.0 / (1.0 - std::pow(options_.beta1, step)),
               1.0 / (1.0 - std::pow(options_.beta2, step))},
              scalars.step);
  }
  void update(const KernelSet& kernels, const UpdateRange& range) const override {
    const std::int64_t count = range.parameters.elements();
    AdamwRange what{range.parameters, range.gradients, first_.range(range.first, count),
                    second_.range(range.first, count), step_.numbers()};
    what.master = master_.range(range.first, count);
    what.start = step_.first();
    what.beta1 = options_.beta1;
    what.beta2 = options_.beta2;
    what.epsilon = options_.epsilon;
    what.decay = range.decay ? options_.decay : 0.0;
    kernels.optimizer->adamw(what);
  }
  std::int64_t state_bytes() const override {
    return first_.bytes() + second_.bytes() + master_.bytes();
  }
  std::int64_t state_bytes(std::int64_t elements, Dtype dtype) const override {
    const std::int64_t arrays = is_narrow(dtype) ? 3 : 2;
    return arrays * elements * static_cast<std::int64_t>(size_of(accumulator_of(dtype)));
  }
  std::vector<NamedView> state() const override {
    std::vector<NamedView> views{{"first_moments", first_.all()},
                                 {"second_moments", second_.all()}};
    if (master_) views.push_back({"master_weights", master_.all()});
    return views;
  }
  std::vector<double> direction(const UpdateSample& sample) const override {
    const double step = static_cast<double>(sample.step);
    const double correction1 = 1.0 - std::pow(options_.beta1, step);
    const double correction2 = 1.0 - std::pow(options_.beta2, step);
    const double decay = sample.decay ? options_.decay : 0.0;
    std::vector<double> found;
    for (std::size_t i = 0; i < sample.before.size(); ++i)
      found.push_back(sample.state[0][i] / correction1 /
                          (std::sqrt(sample.state[1][i] / correction2) + options_.epsilon) +
                      decay * sample.before[i]);
    return found;
  }

 private:
  AdamwOptions options_;
  StateArray first_, second_;
  StateArray master_;  // of bf16 and f16: f32 values, in which small updates are not rounded away
  StepBlock step_;
};

class Sgd final : public Optimizer {
 public:
  explicit Sgd(const SgdOptions& options) : options_(options) {}

  std::string name() const override { return "sgd"; }
  void prepare(std::int64_t elements, Dtype dtype, std::shared_ptr<Memory> memory) override {
    const Dtype wide = accumulator_of(dtype);
    velocity_ = StateArray(elements, wide, "SGD velocities", memory);
    master_ =
        is_narrow(dtype) ? StateArray(elements, wide, "master weights", memory) : StateArray();
    step_ = StepBlock(std::move(memory));
  }
  void begin_step(const UpdateScalars& scalars) override {
    step_.set({scalars.rate, scalars.gradient_scale}, scalars.step);
  }
  void update(const KernelSet& kernels, const UpdateRange& range) const override {
    const std::int64_t count = range.parameters.elements();
    MomentumRange what{range.parameters, range.gradients, velocity_.range(range.first, count),
                       step_.numbers()};
    what.master = master_.range(range.first, count);
    what.start = step_.first();
    what.momentum = options_.momentum;
    what.decay = range.decay ? options_.decay : 0.0;
    kernels.optimizer->momentum(what);
  }
  std::int64_t state_bytes() const override { return velocity_.bytes() + master_.bytes(); }
  std::int64_t state_bytes(std::int64_t elements, Dtype dtype) const override {
    const std::int64_t arrays = is_narrow(dtype) ? 2 : 1;
    return arrays * elements * static_cast<std::int64_t>(size_of(accumulator_of(dtype)));
  }
  std::vector<NamedView> state() const override {
    std::vector<NamedView> views{{"velocities", velocity_.all()}};
    if (master_) views.push_back({"master_weights", master_.all()});
    return views;
  }
  /// The velocity after the update, decay included.
  std::vector<double> direction(const UpdateSample& sample) const override {
    return sample.state[0];
  }

 private:
  SgdOptions options_;
  StateArray velocity_, master_;
  StepBlock step_;
};

}  // namespace

double Schedule::rate(std::int64_t step) const {
  const double up =
      step < warmup ? static_cast<double>(step + 1) / static_cast<double>(warmup) : 1.0;
  return peak * up * (floor + (1.0 - floor) * share(*this, static_cast<double>(step)));
}

std::unique_ptr<Optimizer> make_adamw(const AdamwOptions& options) {
  return std::make_unique<Adamw>(options);
}

std::unique_ptr<Optimizer> make_sgd(const SgdOptions& options) {
  return std::make_unique<Sgd>(options);
}

}  // namespace bench::training
