// Faults of a training by rewards, on one rank and on two, and what finds each.
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/faulty_training.h"
#include "tests/training/grpo_training.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

std::vector<TrainingRun> train_grpo_on(int ranks, double loses = 0.0) {
  return train_on_ranks(ranks, loses, [](Group& group, RunObserver& observer, int lanes) {
    return train_grpo({.steps = 8, .lanes = lanes}, group, observer);
  });
}

/// Sees later tokens, and so the answers, wherever whole sequences pass.
class SeeingAttention final : public AttentionKernels {
 public:
  explicit SeeingAttention(std::unique_ptr<AttentionKernels> real) : real_(std::move(real)) {}
  void forward(const AttentionShape& shape, View packed, View output, View log_sum) override {
    AttentionShape seeing = shape;
    seeing.causal = false;
    real_->forward(seeing, packed, output, log_sum);
  }
  void backward(const AttentionShape& shape, const AttentionBackward& what) override {
    AttentionShape seeing = shape;
    seeing.causal = false;
    real_->backward(seeing, what);
  }
  void join(const AttentionShape& shape, const AttentionPart& part,
            const AttentionPart& sum) override {
    real_->join(shape, part, sum);
  }

 private:
  std::unique_ptr<AttentionKernels> real_;
};

}  // namespace

TEST_CASE("two ranks train by rewards like two lanes of one, bit for bit") {
  const std::vector<TrainingRun> one = train_grpo_on(1), two = train_grpo_on(2);
  check_that_all_held(one[0]);
  for (const TrainingRun& run : two) {
    check_that_all_held(run);
    check_same_steps(run, one[0]);
    CHECK(run.curve.back().gap == Approx(one[0].curve.back().gap).epsilon(1e-12));
    CHECK(run.breakdown.at(static_cast<std::size_t>(RunPhase::rollout)).mean.value > 0.0);
  }
}

TEST_CASE("gradients of a policy lost between two ranks are found by both") {
  for (const double share : {1.0, 0.1})
    for (const TrainingRun& run : train_grpo_on(2, share))
      CHECK_FALSE(check_named(run, "gradient_exchange").held);
}

TEST_CASE("gradients agree where no answer earns anything, and the answers of all ranks are used") {
  const GrpoSetting setting = quick_grpo(1);
  Pretrained base = grpo_base_of(setting);  // knows nothing
  std::vector<TrainingRun> runs(2);
  run_ranks(2, [&](Group& group) {
    RunObserver nobody;
    runs[static_cast<std::size_t>(group.rank())] =
        train_grpo({.setting = setting, .steps = 4, .lanes = 1, .base = &base}, group, nobody);
  });
  for (const TrainingRun& run : runs) {
    CHECK(run.steps.back().gradient_norm == 0.0);
    CHECK(check_named(run, "gradient_exchange").held);
    CHECK_FALSE(check_named(run, "parameters_move").held);
  }
}

TEST_CASE("a policy trains against its divergence from the reference, and in bf16") {
  GrpoTraining training{.steps = 6};
  training.setting.rollouts.kl = 0.1;
  check_that_all_held(train_grpo(training));
  training.dtype = Dtype::bf16;
  check_that_all_held(train_grpo(training));
}

TEST_CASE("symbols that a policy never learns are found and named") {
  const TrainingRun run = train_grpo({.inject = without_updates_of(15 * 64)});
  const TrainingCheck& check = check_named(run, "parameters_move");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("embedding"));
}

TEST_CASE("updates of a policy with twice the rate are found") {
  const TrainingRun run = train_grpo({.inject = with_fixed_rate(2e-3)});
  CHECK(check_named(train_grpo({}), "learning_rate").held);
  const TrainingCheck& check = check_named(run, "learning_rate");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("had a learning rate of 0.002, but the schedule has 0.001"));
}

TEST_CASE("a policy that sees its answers while it is trained is found by its rollouts") {
  // The first weights answer by chance, whatever they see: the second comparison finds it.
  const TrainingRun run =
      train_grpo({.steps = 20, .inject = [](KernelSet& set) {
                    set.attention = std::make_unique<SeeingAttention>(std::move(set.attention));
                  }});
  const TrainingCheck& check = check_named(run, "rollouts");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("differ from those of the forward pass"));
}

TEST_CASE("repeated prompts are found, though their answers differ") {
  const TrainingRun run =
      train_grpo({.steps = 20, .change = [](ChangedWorkload& samples) { samples.repeat = 80; }});
  const TrainingCheck& check = check_named(run, "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("repeats sample"));
}

TEST_CASE("an answer that changes after it was read is found") {
  int reads = 0;
  GrpoTraining training{.lanes = 1};
  training.change = [&](ChangedWorkload& samples) {
    samples.spoil = [&](Split split, const Model& model, const Lane& lane) {
      if (split == Split::train && ++reads == 40)  // the last one of the tenth step
        lane.view(model.inputs[2]).as<float>()[0] += 1.0F;
    };
  };
  const TrainingCheck check = check_named(train_grpo(training), "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 9: 'terms' of samples"));
}

TEST_CASE("a rank that draws other prompts is found by the next rank") {
  std::vector<TrainingRun> runs(2);
  run_ranks(2, [&](Group& group) {
    RunObserver nobody;
    runs[static_cast<std::size_t>(group.rank())] =
        train_grpo({.lanes = 1, .seed = group.rank() == 1 ? 2U : 1U}, group, nobody);
  });
  for (const TrainingRun& run : runs)
    CHECK_THAT(check_named(run, "data").text, Contains("differ from those that rank 0 generates"));
}

TEST_CASE("rewards raise the success of a pretrained policy above imitation", "[long]") {
  GrpoSetting setting = grpo_setting("tiny");
  setting.base = base_training(setting.base, 400);
  const Pretrained base = grpo_base_of(setting);
  const double imitation = make_grpo_workload("tiny", 1)->baselines().front().second;
  CHECK(base.unadapted == Approx(imitation).margin(0.06));  // it has learned the demonstrations
  const TrainingRun run = train_grpo({.setting = setting, .steps = 30, .base = &base});
  check_that_all_held(run);
  CHECK(run.curve.back().gap < imitation - 0.2);
}

}  // namespace bench::training
