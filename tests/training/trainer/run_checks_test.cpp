// Faults that do not affect quality: the correctness checks must find each.
#include <atomic>
#include <memory>
#include <utility>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/passing_optimizer.h"
#include "tests/training/short_training.h"
#include "training/host/host_kernels.h"
#include "training/workloads/llm.h"

namespace bench::training {
using Catch::Matchers::Contains;
namespace {

/// Does not update the first 1024 elements of each block of parameters.
class FreezingOptimizer final : public PassingOptimizer {
 public:
  using PassingOptimizer::PassingOptimizer;
  void adamw(const AdamwRange& range) override {
    if (range.parameters.elements() < 4096) return PassingOptimizer::adamw(range);
    AdamwRange rest = range;
    for (View* view : {&rest.parameters, &rest.gradients, &rest.first, &rest.second, &rest.master})
      if (*view) *view = part_of(*view, 1024, view->elements() - 1024);
    PassingOptimizer::adamw(rest);
  }
};

/// One update of one element is off by a little.
class SlippingOptimizer final : public PassingOptimizer {
 public:
  using PassingOptimizer::PassingOptimizer;
  void adamw(const AdamwRange& range) override {
    PassingOptimizer::adamw(range);
    if (updates_++ == 0) range.parameters.as<float>()[0] += 1e-5F;
  }

 private:
  int updates_ = 0;
};

/// The gradients of its first micro-batch overflow.
class OverflowingFirst final : public LossKernels {
 public:
  explicit OverflowingFirst(std::unique_ptr<LossKernels> real) : real_(std::move(real)) {}
  void cross_entropy(View logits, View targets, double scale, View losses) override {
    const bool first = scale != 0.0 && calls_++ == 0;
    real_->cross_entropy(logits, targets, first ? 1e9 * scale : scale, losses);
  }
  void add_up(View losses, View sum, bool add) override { real_->add_up(losses, sum, add); }

 private:
  std::unique_ptr<LossKernels> real_;
  int calls_ = 0;
};

/// Gradients of one micro-batch are a thousand times too long.
class SpikingLoss final : public LossKernels {
 public:
  SpikingLoss(std::unique_ptr<LossKernels> real, int at) : real_(std::move(real)), at_(at) {}
  void cross_entropy(View logits, View targets, double scale, View losses) override {
    const bool spike = scale != 0.0 && calls_++ == at_;
    real_->cross_entropy(logits, targets, spike ? 1000.0 * scale : scale, losses);
  }
  void add_up(View losses, View sum, bool add) override { real_->add_up(losses, sum, add); }

 private:
  std::unique_ptr<LossKernels> real_;
  int at_;
  int calls_ = 0;
};

template <class Faulty>
void replace_optimizer(KernelSet& set) {
  set.optimizer = std::make_unique<Faulty>(std::move(set.optimizer));
}

}  // namespace

TEST_CASE("a frozen part of a matrix is found and named") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    ShortTraining training;
    training.dtype = dtype;
    training.steps = 10;
    training.inject = replace_optimizer<FreezingOptimizer>;
    const TrainingRun run = train_short(training);
    const TrainingCheck& check = check_named(run, "parameters_move");
    CHECK_FALSE(check.held);
    CHECK_THAT(check.text, Contains("wqkv (") && Contains(" parts)"));
    CHECK(check_named(run, "data").held);
  }
}

TEST_CASE("a frozen part in 16 bits is found with a sharded or resumed optimizer") {
  ShortTraining training;
  training.recipe = short_recipe(20, 0.0);
  training.dtype = Dtype::bf16;
  training.lanes = 1;
  training.parallel.shard_optimizer = true;
  const TemporaryDirectory folder;
  training.checkpoint = folder.path();
  for (const bool resume : {false, true}) {
    training.steps = resume ? 0 : 10;
    training.resume = resume;
    std::vector<TrainingCheck> checks(2);
    const auto train = [&](void (*inject)(KernelSet&)) {
      training.inject = inject;
      run_ranks(2, [&](Group& group) {
        checks[static_cast<std::size_t>(group.rank())] =
            check_named(train_short(training, group), "parameters_move");
      });
    };
    train(replace_optimizer<FreezingOptimizer>);
    INFO((resume ? "resumed: " : "") << checks[0].text);
    CHECK_FALSE(checks[0].held);
    CHECK_THAT(checks[0].text, Contains(" parts)"));
    CHECK(checks[0].text == checks[1].text);
  }
}

TEST_CASE("16-bit parameters whose masters moved count as moved", "[long]") {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16})
    for (const bool shard : {false, true}) {
      ShortTraining training;
      training.dtype = dtype;
      training.lanes = 1;
      training.steps = 4;  // a gain of 1 has lost less than 0.001
      training.parallel.shard_optimizer = shard;
      std::vector<TrainingCheck> checks(2);
      run_ranks(2, [&](Group& group) {
        checks[static_cast<std::size_t>(group.rank())] =
            check_named(train_short(training, group), "parameters_move");
      });
      INFO(to_string(dtype) << ": " << checks[0].text);
      CHECK(checks[0].held);
      CHECK(checks[1].held);
    }
}

TEST_CASE("a token changed after reading is found") {
  ShortTraining training;
  std::atomic<int> reads{0};
  training.spoil = [&](const Model& model, const Lane& lane) {
    if (++reads > 8 * 9 && reads <= 8 * 10)  // step 10, of eight micro-batches
      lane.view(model.inputs[0]).as<std::int32_t>()[5] ^= 1;
  };
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 9: 'tokens' of samples"));
}

TEST_CASE("repeated samples under other numbers are found", "[long]") {
  ShortTraining training;
  training.repeat = 320;  // ten steps
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 19: sample 608 on rank 0 repeats sample 288"));
}

TEST_CASE("a rank with a different source is found by the next rank, not by the target") {
  std::vector<TrainingRun> ranks(2);
  run_ranks(2, [&](Group& group) {
    ShortTraining training;
    training.recipe = short_recipe(1000, 1.5);
    training.lanes = 1;
    if (group.rank() == 1) training.source_seed = 2;
    ranks[static_cast<std::size_t>(group.rank())] = train_short(training, group);
  });
  for (const TrainingRun& run : ranks) {
    CHECK(run.converged);
    const TrainingCheck& check = check_named(run, "data");
    CHECK_FALSE(check.held);
    CHECK_THAT(
        check.text,
        Contains("step 9: samples of rank 1 differ from those that rank 0 generates for it"));
    CHECK(check_named(run, "replicas_agree").held);
  }
}

TEST_CASE("a gradient a thousand times too large is found despite clipping", "[long]") {
  ShortTraining training;
  training.inject = [](KernelSet& set) {
    set.loss = std::make_unique<SpikingLoss>(std::move(set.loss), 4 * 35);  // step 35
  };
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "gradient_norms");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("the largest at step 35"));
}

TEST_CASE("one wrong update on one rank is found by all ranks") {
  std::vector<TrainingRun> ranks(2);
  run_ranks(2, [&](Group& group) {
    ShortTraining training;
    training.steps = 10;
    training.lanes = 1;
    if (group.rank() == 1) training.inject = replace_optimizer<SlippingOptimizer>;
    ranks[static_cast<std::size_t>(group.rank())] = train_short(training, group);
  });
  for (const TrainingRun& run : ranks) {
    const TrainingCheck& check = check_named(run, "replicas_agree");
    CHECK_FALSE(check.held);
    CHECK_THAT(check.text, Contains("after 10 steps: rank 1 and rank 0 differ in"));
  }
}

TEST_CASE("a first step that loss scaling skips does not make rates look wrong") {
  // With a tied head, the parameters that are watched do not start at zero.
  LlmSetting setting{.preset = "tiny", .shape = llm_preset("tiny"), .training = {}};
  setting.shape.tied_head = true;
  setting.training = {.recipe = short_recipe(40, 0.0)};
  const auto workload = make_llm_workload_from(setting);
  TrainerOptions options;
  options.recipe = setting.training.recipe;
  options.lanes = 1;
  options.dtype = Dtype::f16;
  options.steps = 12;
  const auto alone = make_self_group();
  Trainer trainer(
      *workload, options,
      [](Dtype dtype) {
        KernelSet set = host_kernels(dtype);
        set.loss = std::make_unique<OverflowingFirst>(std::move(set.loss));
        return set;
      },
      *alone);
  RunObserver nobody;
  const TrainingRun run = trainer.run(nobody);
  CHECK(run.loss_scale.value().skipped == 1);
  const TrainingCheck& check = check_named(run, "learning_rate");
  INFO(check.text);
  CHECK(check.held);
}

}  // namespace bench::training
