// Faults of a sequential recommender's training, on one rank and on two, and what finds each.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/faulty_hstu.h"
#include "tests/training/faulty_training.h"
#include "training/workloads/hstu.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// hstu tiny over the first steps of its schedule with small batches.
ShortTraining short_hstu(std::int64_t steps) {
  ShortTraining training = first_steps("hstu", hstu_setting("tiny").recipe, steps);
  training.recipe.batch = 8;
  training.recipe.micro_batch = 2;
  training.recipe.evaluation_samples = 64;
  return training;
}

/// Long enough to learn what leaks.
ShortTraining leaking_hstu() {
  ShortTraining training = first_steps("hstu", hstu_setting("tiny").recipe, 120);
  training.recipe.batch = 32;
  training.recipe.evaluation_every = 120;
  training.recipe.evaluation_samples = 128;
  return training;
}

std::vector<TrainingRun> train_hstu_on(int ranks, std::int64_t steps, double loses = 0.0) {
  return train_on_ranks(ranks, loses, short_hstu(steps));
}

}  // namespace

TEST_CASE("two ranks train a sequential recommender like two lanes of one, and judge it alike") {
  const std::vector<TrainingRun> one = train_hstu_on(1, 8), two = train_hstu_on(2, 8);
  check_that_all_held(one[0]);
  for (const TrainingRun& run : two) {
    check_that_all_held(run);
    check_same_steps(run, one[0]);
    CHECK(run.curve.back().gap == Approx(one[0].curve.back().gap).epsilon(1e-12));
    CHECK(run.curve.back().floor == Approx(one[0].curve.back().floor).epsilon(1e-12));
    CHECK(run.curve.back().gap == two[0].curve.back().gap);
  }
}

TEST_CASE("gradients of a sequential recommender lost between two ranks are found by both") {
  for (const double share : {1.0, 0.1})
    for (const TrainingRun& run : train_hstu_on(2, 2, share))
      CHECK_FALSE(check_named(run, "gradient_exchange").held);
}

TEST_CASE("every parameter of a sequential recommender moves in ten steps, and all checks hold") {
  check_that_all_held(train_short(short_hstu(10)));
}

TEST_CASE("a projection of a sequential recommender that is never learned is found and named") {
  ShortTraining training = short_hstu(10);
  training.inject = without_updates_of(32 * 128);
  const TrainingCheck check = check_named(train_short(training), "parameters_move");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("layer0.uvqk"));
}

TEST_CASE("updates of a sequential recommender that ignore the warm-up are found") {
  ShortTraining training = short_hstu(10);
  training.inject = with_fixed_rate(training.recipe.schedule.peak);
  const TrainingCheck check = check_named(train_short(training), "learning_rate");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("the update of step 1 had a learning rate of"));
}

TEST_CASE("an action of a history that changes after it was read is found") {
  const TrainingCheck check =
      data_after_late_change(short_hstu(10), [](const Model& model, const Lane& lane) {
        lane.view(model.inputs[3]).as<std::int32_t>()[1] ^= 1;
      });
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 9: 'actions'"));
}

TEST_CASE("repeated histories are found") {
  ShortTraining training = short_hstu(20);
  training.repeat = 80;  // ten steps
  const TrainingCheck check = check_named(train_short(training), "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 19: sample 152 on rank 0 repeats sample 72"));
}

TEST_CASE("a rank that reads other histories is found by the next rank") {
  check_that_other_samples_are_found(short_hstu(10));
}

TEST_CASE("a sequential recommender beats a filter that takes tastes for constant", "[long]") {
  ShortTraining training = leaking_hstu();
  training.recipe.batch = 64;
  training.recipe.horizon = training.recipe.evaluation_every = 400;
  const TrainingRun run = train_short(training);
  check_that_all_held(run);
  const auto part = [&](const std::string& name) {
    return std::ranges::find(run.parts, name, &std::pair<std::string, double>::first)->second;
  };
  CHECK(run.curve.back().gap < 0.7 * part("constant_taste_gap"));
  CHECK(run.curve.back().gap < 0.4 * part("no_history_gap"));
  CHECK(part("log_loss_gap") > 0.0);
}

// The gap alone does not show it: a score that says the label has a lower expected AUC than the
// probability that the label was drawn by.
TEST_CASE("actions among the inputs that predict them are found by a loss below the least") {
  ShortTraining training = leaking_hstu();
  training.spoil_all = [](const Model& model, const Lane& lane) {
    const View actions = lane.view(model.inputs[3]), labels = lane.view(model.inputs[6]);
    for (std::int64_t row = 0; row < labels.rows; ++row)
      if (labels.as<std::int32_t>()[row] >= 0)
        actions.as<std::int32_t>()[row] = labels.as<std::int32_t>()[row];
  };
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "above_floor");
  INFO(check.text);
  CHECK_FALSE(check.held);
  CHECK(run.curve.back().gap > 0.0);
}

// The next event's row has the action that this event's is to predict.
TEST_CASE("a causal mask that is off by one is found by a loss below the least", "[long]") {
  ShortTraining training = leaking_hstu();
  training.inject = replace_hstu<PeekingAttention>;
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "above_floor");
  INFO(check.text);
  CHECK_FALSE(check.held);
}

}  // namespace bench::training
