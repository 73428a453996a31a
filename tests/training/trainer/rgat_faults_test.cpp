// Faults of a graph network's training, on one rank and on two, and what finds each.
#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/faulty_rgat.h"
#include "tests/training/faulty_training.h"
#include "tests/training/rgat_training.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// rgat tiny over the first steps of its schedule with small batches, on a graph of few nodes.
ShortTraining short_rgat(std::int64_t steps) {
  ShortTraining training = first_steps("rgat", rgat_setting("tiny").recipe, steps);
  training.make = [] { return make_rgat_workload("tiny", small_graph_rgat(), 1); };
  training.recipe.batch = 8;
  training.recipe.micro_batch = 2;
  training.recipe.evaluation_samples = 64;
  return training;
}

/// Long enough to learn what leaks, on tiny's own graph.
ShortTraining leaking_rgat() {
  ShortTraining training = short_rgat(100);
  training.make = {};
  training.recipe.batch = 64;
  training.recipe.micro_batch = 16;
  training.recipe.evaluation_every = 100;
  training.recipe.evaluation_samples = 1024;
  return training;
}

std::vector<TrainingRun> train_rgat_on(int ranks, std::int64_t steps, double loses = 0.0) {
  return train_on_ranks(ranks, loses, short_rgat(steps));
}

}  // namespace

TEST_CASE("two ranks train a graph network like two lanes of one, and judge it alike") {
  const std::vector<TrainingRun> one = train_rgat_on(1, 8), two = train_rgat_on(2, 8);
  check_that_all_held(one[0]);
  for (const TrainingRun& run : two) {
    check_that_all_held(run);
    check_same_steps(run, one[0]);
    CHECK(run.curve.back().gap == Approx(one[0].curve.back().gap).epsilon(1e-12));
    CHECK(run.curve.back().floor == Approx(one[0].curve.back().floor).epsilon(1e-12));
    CHECK(run.curve.back().gap == two[0].curve.back().gap);
  }
}

TEST_CASE("gradients of a graph network lost between two ranks are found by both") {
  for (const double share : {1.0, 0.1})
    for (const TrainingRun& run : train_rgat_on(2, 2, share))
      CHECK_FALSE(check_named(run, "gradient_exchange").held);
}

TEST_CASE("every parameter of a graph network moves in ten steps, and all checks hold") {
  check_that_all_held(train_short(short_rgat(10)));
}

TEST_CASE("parameters of a graph network that are never learned are found and named") {
  ShortTraining training = short_rgat(10);
  training.inject = without_updates_of(8 * 32);
  const TrainingCheck check = check_named(train_short(training), "parameters_move");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("layer0."));
}

TEST_CASE("updates of a graph network that ignore the warm-up are found") {
  ShortTraining training = short_rgat(10);
  training.inject = with_fixed_rate(training.recipe.schedule.peak);
  const TrainingCheck check = check_named(train_short(training), "learning_rate");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("the update of step 1 had a learning rate of"));
}

TEST_CASE("a node's features that change after they were read are found") {
  const TrainingCheck check =
      data_after_late_change(short_rgat(10), [](const Model& model, const Lane& lane) {
        lane.view(model.inputs[5]).as<float>()[3] += 1.0F;
      });
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 9: 'cited.cited'"));
}

TEST_CASE("repeated neighbourhoods are found") {
  ShortTraining training = short_rgat(20);
  training.repeat = 80;  // ten steps
  const TrainingCheck check = check_named(train_short(training), "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("step 19: sample 152 on rank 0 repeats sample 72"));
}

TEST_CASE("features that one rank cannot open are an error of all ranks") {
  const TemporaryDirectory folder;
  std::ofstream(folder.path() / "file") << "no folder";
  std::vector<std::string> errors(2);
  run_ranks(2, [&](Group& group) {
    ShortTraining own = short_rgat(10);
    own.lanes = 1;
    if (group.rank() == 1)
      own.make = [&] {
        return make_rgat_workload("tiny", small_graph_rgat(), 1,
                                  {.cache = folder.path() / "file" / "below"});
      };
    try {
      train_short(own, group);
    } catch (const Error& error) {
      errors[static_cast<std::size_t>(group.rank())] = error.text();
    }
  });
  for (const std::string& error : errors) CHECK_THAT(error, Contains("choose another folder"));
}

TEST_CASE("a rank that reads other neighbourhoods is found by the next rank") {
  std::vector<TrainingRun> runs(2);
  run_ranks(2, [&](Group& group) {
    ShortTraining own = short_rgat(10);
    own.lanes = 1;
    if (group.rank() == 1)
      own.make = [] { return make_rgat_workload("tiny", small_graph_rgat(), 2); };
    runs[static_cast<std::size_t>(group.rank())] = train_short(own, group);
  });
  for (const TrainingRun& run : runs)
    CHECK_THAT(check_named(run, "data").text, Contains("differ from those that rank 0 generates"));
}

// A rank whose features are those of another law would train on what no other rank has.
TEST_CASE("a rank that has another file of features is found by the next rank") {
  std::vector<TrainingRun> runs(2);
  run_ranks(2, [&](Group& group) {
    ShortTraining own = short_rgat(10);
    own.lanes = 1;
    if (group.rank() == 1)
      own.make = [] {
        RgatSetting other = small_graph_rgat();
        other.law.distance *= 1.01;
        return make_rgat_workload("tiny", other, 1);
      };
    runs[static_cast<std::size_t>(group.rank())] = train_short(own, group);
  });
  for (const TrainingRun& run : runs)
    CHECK_THAT(check_named(run, "data").text, Contains("differ from those that rank 0 generates"));
}

TEST_CASE("a graph network learns from neighbours by their relations", "[long]") {
  ShortTraining training = leaking_rgat();
  training.recipe.batch = 128;
  training.recipe.horizon = training.recipe.evaluation_every = 400;
  const TrainingRun run = train_short(training);
  check_that_all_held(run);
  const auto part = [&](const std::string& name) {
    return std::ranges::find(run.parts, name, &std::pair<std::string, double>::first)->second;
  };
  CHECK(run.curve.back().gap < part("one_hop_gap"));
  CHECK(run.curve.back().gap < 0.4 * part("features_gap"));
  CHECK(part("accuracy") > 0.7);
}

// The gap alone does not show it: it is that of the best probabilities, whatever the labels are.
TEST_CASE("labels among the features are found by a loss below the least") {
  ShortTraining training = leaking_rgat();
  training.spoil_all = [](const Model& model, const Lane& lane) {
    const View seeds = lane.view(model.inputs[0]), labels = lane.view(model.inputs.back());
    for (std::int64_t row = 0; row < labels.rows; ++row)
      seeds.as<float>()[row * seeds.columns + labels.as<std::int32_t>()[row]] += 4.0F;
  };
  const TrainingRun run = train_short(training);
  const TrainingCheck& check = check_named(run, "above_floor");
  INFO(check.text);
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("below 0.312"));
  CHECK(run.curve.back().gap > rgat_setting("tiny").recipe.target.value());
}

}  // namespace bench::training
