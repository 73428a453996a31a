// Faults of a training of rectified flow, on one rank and on two, and what finds each.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/faulty_training.h"
#include "training/workloads/flow.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// flow tiny over the first steps of its schedule with small batches.
ShortTraining short_flow(std::int64_t steps) {
  ShortTraining training = first_steps("flow", flow_setting("tiny").recipe, steps);
  training.recipe.batch = 16;
  training.recipe.micro_batch = 4;
  return training;
}

std::vector<TrainingRun> train_flow_on(int ranks, std::int64_t steps, double loses = 0.0) {
  return train_on_ranks(ranks, loses, short_flow(steps));
}

}  // namespace

TEST_CASE("two ranks train rectified flow like two lanes of one, bit for bit") {
  const std::vector<TrainingRun> one = train_flow_on(1, 8), two = train_flow_on(2, 8);
  check_that_all_held(one[0]);
  for (const TrainingRun& run : two) {
    check_that_all_held(run);
    check_same_steps(run, one[0]);
    CHECK(run.parts == two[0].parts);
    CHECK(run.curve.back().gap == Approx(one[0].curve.back().gap).epsilon(1e-12));
  }
}

TEST_CASE("gradients of rectified flow lost between two ranks are found by both") {
  for (const double share : {1.0, 0.1})
    for (const TrainingRun& run : train_flow_on(2, 2, share))
      CHECK_FALSE(check_named(run, "gradient_exchange").held);
}

TEST_CASE("every parameter of rectified flow moves within three steps, and all checks hold") {
  const TrainingRun run = train_short(short_flow(3));
  check_that_all_held(run);
  CHECK_THAT(check_named(run, "parameters_move").text, Contains("within 3 steps"));
}

TEST_CASE("words that are never learned are found and named") {
  ShortTraining training = short_flow(10);
  training.inject = without_updates_of(22 * 64);  // the embedding
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "parameters_move");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("embedding"));
}

TEST_CASE("updates of rectified flow that ignore the warm-up are found") {
  ShortTraining training = short_flow(10);
  training.inject = with_fixed_rate(training.recipe.schedule.peak);
  const TrainingCheck check = check_named(train_short(training), "learning_rate");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("the update of step 1 had a learning rate of 0.008"));
}

TEST_CASE("a noisy image that changes after it was read is found") {
  const TrainingCheck check =
      data_after_late_change(short_flow(10), [](const Model& model, const Lane& lane) {
        lane.view(model.inputs[1]).as<float>()[5] += 1e-3F;
      });
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 9: 'patches' of samples"));
}

TEST_CASE("repeated images are found") {
  ShortTraining training = short_flow(20);
  training.repeat = 160;  // ten steps
  const TrainingCheck check = check_named(train_short(training), "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 19: sample 304 on rank 0 repeats sample 144"));
}

TEST_CASE("a rank that draws other images is found by the next rank") {
  check_that_other_samples_are_found(short_flow(10));
}

TEST_CASE("inputs that show the velocity are found by a gap below the floor", "[long]") {
  ShortTraining training = short_flow(60);
  training.recipe.schedule.warmup = 5;
  training.spoil_all = [](const Model& model, const Lane& lane) {
    const View patches = lane.view(model.inputs[1]);
    std::memcpy(patches.data, lane.view(model.inputs[3]).data,
                static_cast<std::size_t>(patches.elements()) * sizeof(float));
  };
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "above_floor");
  INFO(check.text);
  CHECK_FALSE(check.held);
  CHECK(check_named(run, "data").held);  // the same samples again
}

}  // namespace bench::training
