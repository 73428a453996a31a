// Faults of a training of routed experts, on one rank and on two, and what finds each.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/faulty_experts.h"
#include "tests/training/faulty_training.h"
#include "training/workloads/moe.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// moe tiny over the first steps of its schedule.
ShortTraining short_moe(std::int64_t steps) {
  return first_steps("moe", moe_setting("tiny").recipe, steps);
}

TrainingRun short_moe_with(void (*inject)(KernelSet&)) {
  ShortTraining training = short_moe(10);
  training.inject = inject;
  return train_short(training);
}

/// The third expert of each layer keeps its initial weights, as if its update were lost.
class ForgettingExpert final : public PassingExperts {
 public:
  using PassingExperts::PassingExperts;
  void backward(const ExpertTensors& tensors, const ExpertGradients& gradients) override {
    PassingExperts::backward(tensors, gradients);
    for (const View& all : {gradients.up, gradients.down}) {
      const std::int64_t each = all.elements() / tensors.gates.columns;
      std::fill_n(all.as<float>() + 2 * each, each, 0.0f);
    }
  }
};

std::vector<TrainingRun> train_moe_on(int ranks, std::int64_t steps, bool loses = false) {
  return train_on_ranks(ranks, loses ? 0.1 : 0.0, short_moe(steps));
}

}  // namespace

TEST_CASE("two ranks train a mixture of experts like two lanes of one, bit for bit") {
  const std::vector<TrainingRun> one = train_moe_on(1, 8), two = train_moe_on(2, 8);
  check_that_all_held(one[0]);
  for (const TrainingRun& run : two) {
    check_that_all_held(run);
    check_same_steps(run, one[0]);
    CHECK(run.parts == two[0].parts);
    CHECK(run.curve.back().floor == Approx(one[0].curve.back().floor).epsilon(1e-12));
  }
  CHECK_THAT(check_named(two[0], "replicas_agree").text, Contains("2 ranks were identical"));
}

TEST_CASE("a gradient of experts lost between two ranks is found by both") {
  for (const TrainingRun& run : train_moe_on(2, 2, true))
    CHECK_FALSE(check_named(run, "gradient_exchange").held);
}

TEST_CASE("an expert that is never updated is found and named") {
  const TrainingRun run = short_moe_with(replace_experts<ForgettingExpert>);
  const TrainingCheck& check = check_named(run, "parameters_move");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("layer0.experts.w_down (1 of 8 parts)") &&
                             Contains("layer0.experts.w_gate_up (2 of 16 parts)"));
}

TEST_CASE("a token of changing text that changes after it was read is found") {
  const TrainingCheck check =
      data_after_late_change(short_moe(10), [](const Model& model, const Lane& lane) {
        lane.view(model.inputs[0]).as<std::int32_t>()[5] ^= 1;
      });
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 9: 'tokens' of samples"));
}

TEST_CASE("repeated samples of changing text are found") {
  ShortTraining training = short_moe(20);
  training.repeat = 320;  // ten steps
  const TrainingCheck check = check_named(train_short(training), "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 19: sample 608 on rank 0 repeats sample 288"));
}

TEST_CASE("a rank that generates other text is found by the next rank") {
  check_that_other_samples_are_found(short_moe(10));
}

}  // namespace bench::training
