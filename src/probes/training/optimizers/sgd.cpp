#include <utility>

#include "probes/training/optimizers/optimizer.h"

namespace bench::training {
namespace {

class Sgd final : public Optimizer {
 public:
  explicit Sgd(const SgdOptions& options) : options_(options) {}

  std::string name() const override { return "sgd"; }
  void prepare(std::int64_t elements, Dtype dtype, std::shared_ptr<Memory> memory) override {
    momentum_ = StateArray(elements, accumulator_of(dtype), "momentum", memory);
    master_ = master_weights(elements, dtype, memory);
    step_ = StepBlock(std::move(memory));
  }
  void begin_step(const UpdateScalars& scalars) override {
    step_.set({scalars.rate, scalars.gradient_scale}, scalars.step);
  }
  void update(const KernelSet& kernels, const UpdateRange& range) const override {
    const std::int64_t count = range.parameters.elements();
    SgdRange what{range.parameters, range.gradients, momentum_.range(range.first, count),
                  step_.numbers()};
    what.master = master_.range(range.first, count);
    what.start = step_.first();
    what.factor = options_.momentum;
    what.decay = range.decay ? options_.decay : 0.0;
    kernels.optimizer->sgd(what);
  }
  std::int64_t state_bytes() const override { return momentum_.bytes() + master_.bytes(); }
  std::vector<NamedView> state() const override {
    std::vector<NamedView> views{{"momentum", momentum_.all()}};
    if (master_) views.push_back({"master_weights", master_.all()});
    return views;
  }

 private:
  SgdOptions options_;
  StateArray momentum_, master_;
  StepBlock step_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(const SgdOptions& options) {
  return std::make_unique<Sgd>(options);
}

}  // namespace bench::training
