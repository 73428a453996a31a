#include "tests/training/short_training.h"

#include <stdexcept>

#include "training/host/host_kernels.h"
#include "training/workloads/llm.h"

namespace bench::training {
namespace {

/// A tiny workload whose training samples are changed after they were read.
class SpoiltWorkload final : public Workload {
 public:
  explicit SpoiltWorkload(const ShortTraining& training)
      : inner_(make_workload(training.workload, "tiny", training.source_seed)),
        repeat_(training.repeat),
        spoil_(training.spoil) {}
  std::string name() const override { return inner_->name(); }
  std::string preset() const override { return inner_->preset(); }
  const Recipe& recipe() const override { return inner_->recipe(); }
  std::string item() const override { return inner_->item(); }
  std::int64_t items_per_sample() const override { return inner_->items_per_sample(); }
  double flops_per_sample() const override { return inner_->flops_per_sample(); }
  Model model(std::int64_t samples, Dtype dtype, bool recompute) const override {
    return inner_->model(samples, dtype, recompute);
  }
  std::unique_ptr<Optimizer> optimizer() const override { return inner_->optimizer(); }
  void read(Split split, std::uint64_t first, const Model& model, const Lane& lane) const override {
    inner_->read(split, at(split, first), model, lane);
    if (split == Split::train && spoil_) spoil_(model, lane);
  }
  std::uint64_t checksum(Split split, std::uint64_t first, std::int64_t count) const override {
    return inner_->checksum(split, at(split, first), count);
  }
  std::unique_ptr<Evaluation> evaluation(const Model& model) const override {
    return inner_->evaluation(model);
  }

 private:
  std::uint64_t at(Split split, std::uint64_t first) const {
    return split == Split::train && repeat_ > 0 ? first % repeat_ : first;
  }
  std::unique_ptr<Workload> inner_;
  std::uint64_t repeat_;
  std::function<void(const Model&, const Lane&)> spoil_;
};

}  // namespace

Recipe short_recipe(std::int64_t steps, double target) {
  Recipe recipe = llm_training("tiny").recipe;
  recipe.horizon = steps;
  recipe.schedule.horizon = steps;
  recipe.schedule.warmup = 20;
  recipe.target = target;
  recipe.evaluation_every = 10;
  recipe.evaluation_samples = 16;
  return recipe;
}

TrainingRun train_short(const ShortTraining& training, Group& group, RunObserver& observer) {
  SpoiltWorkload workload(training);
  TrainerOptions options;
  options.recipe = training.recipe;
  options.lanes = training.lanes;
  options.dtype = training.dtype;
  options.steps = training.steps;
  options.check_every = 10;
  options.parallel = training.parallel;
  options.checkpoint = training.checkpoint;
  options.checkpoint_every = 10;
  options.resume = training.resume;
  const KernelFactory kernels = [&](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    if (training.inject) training.inject(set);
    return set;
  };
  Trainer trainer(workload, options, kernels, group);
  return trainer.run(observer);
}

TrainingRun train_short(const ShortTraining& training, Group& group) {
  RunObserver nobody;
  return train_short(training, group, nobody);
}

TrainingRun train_short(const ShortTraining& training) {
  const auto alone = make_self_group();
  return train_short(training, *alone);
}

const TrainingCheck& check_named(const TrainingRun& run, const std::string& name) {
  for (const TrainingCheck& check : run.checks)
    if (check.check == name) return check;
  throw std::out_of_range("the run made no check '" + name + "'");
}

}  // namespace bench::training
