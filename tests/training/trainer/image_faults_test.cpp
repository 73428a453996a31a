// Faults of a classifier's training, on one rank and on two, and what finds each.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/faulty_classifier.h"
#include "tests/training/faulty_training.h"
#include "training/workloads/image.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// image tiny over the first steps of its schedule with small batches.
ShortTraining short_image(std::int64_t steps) {
  ShortTraining training = first_steps("image", image_setting("tiny").recipe, steps);
  training.recipe.batch = 8;
  training.recipe.micro_batch = 2;
  training.recipe.evaluation_samples = 64;
  return training;
}

std::vector<TrainingRun> train_image_on(int ranks, std::int64_t steps, double loses = 0.0) {
  return train_on_ranks(ranks, loses, short_image(steps));
}

}  // namespace

TEST_CASE("two ranks train a classifier like two lanes of one, and judge it alike") {
  const std::vector<TrainingRun> one = train_image_on(1, 8), two = train_image_on(2, 8);
  check_that_all_held(one[0]);
  for (const TrainingRun& run : two) {
    check_that_all_held(run);
    check_same_steps(run, one[0]);
    CHECK(run.parts == two[0].parts);
    CHECK(run.curve.back().gap == one[0].curve.back().gap);
    CHECK(run.curve.back().floor == one[0].curve.back().floor);
  }
}

TEST_CASE("ranks that share SGD's velocities train like one that has them all") {
  ShortTraining training = short_image(8);
  training.parallel.shard_optimizer = true;
  const TrainingRun one = train_image_on(1, 8)[0];
  for (const TrainingRun& run : train_on_ranks(2, 0.0, training)) {
    check_that_all_held(run);
    check_same_steps(run, one);
  }
}

TEST_CASE("a classifier resumes from a checkpoint bit for bit, velocities included") {
  const TemporaryDirectory folder;
  ShortTraining training = short_image(20);
  training.checkpoint = folder.path();
  const TrainingRun whole = train_short(training);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().filename().string().starts_with("step-000000000020"))
      std::filesystem::remove(entry.path());
  training.resume = true;
  const TrainingRun rest = train_short(training);
  CHECK(rest.first_step == 10);
  REQUIRE(rest.steps.size() == 10);
  for (std::size_t step = 0; step < 10; ++step)
    CHECK(rest.steps[step].loss == whole.steps[step + 10].loss);
  CHECK(rest.curve.back().gap == whole.curve.back().gap);
}

TEST_CASE("gradients of a classifier lost between two ranks are found by both") {
  for (const double share : {1.0, 0.1})
    for (const TrainingRun& run : train_image_on(2, 2, share))
      CHECK_FALSE(check_named(run, "gradient_exchange").held);
}

TEST_CASE("every parameter of a classifier moves within ten steps, and all checks hold") {
  check_that_all_held(train_short(short_image(10)));
}

TEST_CASE("a classifier's stem that is never learned is found and named") {
  ShortTraining training = short_image(10);
  training.inject = without_updates_of(27 * 16);
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "parameters_move");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("stem"));
}

TEST_CASE("updates of a classifier that ignore the warm-up are found, with SGD too") {
  ShortTraining training = short_image(10);
  training.inject = with_fixed_rate(training.recipe.schedule.peak);
  const TrainingCheck check = check_named(train_short(training), "learning_rate");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("the update of step 1 had a learning rate of"));
}

TEST_CASE("a picture, or its label, that changes after it was read is found") {
  for (const std::size_t input : {std::size_t{0}, std::size_t{1}}) {
    const TrainingCheck check =
        data_after_late_change(short_image(10), [input](const Model& model, const Lane& lane) {
          const View view = lane.view(model.inputs[input]);
          if (input == 0)
            view.as<float>()[5] += 1e-3F;
          else
            view.as<std::int32_t>()[1] ^= 1;
        });
    CHECK_FALSE(check.held);
    CHECK_THAT(check.text, Contains(input == 0 ? "step 9: 'images'" : "step 9: 'labels'"));
  }
}

TEST_CASE("repeated pictures are found") {
  ShortTraining training = short_image(20);
  training.repeat = 80;  // ten steps
  const TrainingCheck check = check_named(train_short(training), "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 19: sample 152 on rank 0 repeats sample 72"));
}

TEST_CASE("a rank that draws other pictures is found by the next rank") {
  check_that_other_samples_are_found(short_image(10));
}

TEST_CASE("answers that are the labels are found by an accuracy above that of the true classes") {
  ShortTraining training = short_image(2);
  training.inject = replace_classifier<LeakedClasses>;
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "above_floor");
  INFO(check.text);
  CHECK_FALSE(check.held);
  CHECK(check_named(run, "data").held);
}

}  // namespace bench::training
