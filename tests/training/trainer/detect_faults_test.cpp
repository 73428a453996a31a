// Faults of a detector's training, on one rank and on two, and what finds each.
#include <algorithm>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/faulty_detection.h"
#include "tests/training/faulty_training.h"
#include "training/workloads/detect.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// detect tiny over the first steps of its schedule with small batches.
ShortTraining short_detect(std::int64_t steps) {
  ShortTraining training = first_steps("detect", detect_setting("tiny").recipe, steps);
  training.recipe.batch = 8;
  training.recipe.micro_batch = 2;
  return training;
}

std::vector<TrainingRun> train_detect_on(int ranks, std::int64_t steps, double loses = 0.0) {
  return train_on_ranks(ranks, loses, short_detect(steps));
}

}  // namespace

TEST_CASE("two ranks train a detector like two lanes of one, and judge it alike") {
  const std::vector<TrainingRun> one = train_detect_on(1, 8), two = train_detect_on(2, 8);
  check_that_all_held(one[0]);
  for (const TrainingRun& run : two) {
    check_that_all_held(run);
    check_same_steps(run, one[0]);
    CHECK(run.parts == two[0].parts);
    CHECK(run.curve.back().gap == one[0].curve.back().gap);
    CHECK(run.curve.back().floor == one[0].curve.back().floor);
  }
}

TEST_CASE("gradients of a detector lost between two ranks are found by both") {
  for (const double share : {1.0, 0.1})
    for (const TrainingRun& run : train_detect_on(2, 2, share))
      CHECK_FALSE(check_named(run, "gradient_exchange").held);
}

TEST_CASE("every parameter of a detector moves within ten steps, and all checks hold") {
  check_that_all_held(train_short(short_detect(10)));
}

TEST_CASE("a first convolution that is never learned is found and named") {
  ShortTraining training = short_detect(10);
  training.inject = without_updates_of(27 * 16);  // the stem
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "parameters_move");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("stem"));
}

TEST_CASE("updates of a detector that ignore the warm-up are found") {
  ShortTraining training = short_detect(10);
  training.inject = with_fixed_rate(training.recipe.schedule.peak);
  const TrainingCheck check = check_named(train_short(training), "learning_rate");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("the update of step 1 had a learning rate of"));
}

TEST_CASE("an image, or a label, that changes after it was read is found") {
  for (const std::size_t input : {std::size_t{0}, std::size_t{2}}) {
    const TrainingCheck check =
        data_after_late_change(short_detect(10), [input](const Model& model, const Lane& lane) {
          lane.view(model.inputs[input]).as<float>()[5] += 1e-3F;
        });
    CHECK_FALSE(check.held);
    CHECK_THAT(check.text, Contains(input == 0 ? "step 9: 'images'" : "step 9: 'boxes'"));
  }
}

TEST_CASE("repeated scenes are found") {
  ShortTraining training = short_detect(20);
  training.repeat = 80;  // ten steps
  const TrainingCheck check = check_named(train_short(training), "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 19: sample 152 on rank 0 repeats sample 72"));
}

TEST_CASE("a rank that draws other scenes is found by the next rank") {
  check_that_other_samples_are_found(short_detect(10));
}

TEST_CASE("answers that are the labels are found by a precision above that of the true boxes") {
  ShortTraining training = short_detect(2);
  training.inject = replace_detection<LeakedLabels>;
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "above_floor");
  INFO(check.text);
  CHECK_FALSE(check.held);
  CHECK(check_named(run, "data").held);
}

}  // namespace bench::training
