// Trainings that reach their target or not.
#include "training/trainer/trainer.h"

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/faulty_kernels.h"
#include "tests/training/short_training.h"

namespace bench::training {
namespace {

/// The events of a run, in order.
struct EventLog final : RunObserver {
  void run_start() override { words.push_back("run_start"); }
  void block_start(std::int64_t at) override { add("block_start", at); }
  void block_stop(std::int64_t at) override { add("block_stop", at); }
  void evaluation_start(std::int64_t at) override { add("eval_start", at); }
  void evaluation_stop(std::int64_t at, const Quality&) override { add("eval_stop", at); }
  void run_stop(std::int64_t at, bool converged) override {
    add(converged ? "success" : "aborted", at);
  }
  void add(const std::string& word, std::int64_t at) {
    words.push_back(word + " " + std::to_string(at));
  }
  std::vector<std::string> words = {};
};

/// A run that aborts after this many samples.
struct EndsAbruptly final : RunObserver {
  explicit EndsAbruptly(std::int64_t samples) : at(samples) {}
  void block_start(std::int64_t samples) override {
    if (samples == at) throw std::runtime_error("killed");
  }
  std::int64_t at;
};

void train_until_killed(const ShortTraining& training, std::int64_t samples) {
  EndsAbruptly killed(samples);
  const auto alone = make_self_group();
  CHECK_THROWS_WITH(train_short(training, *alone, killed), "killed");
}

/// All but its time.
auto judged(const CurvePoint& p) {
  return std::tuple(p.step, p.samples, p.gap, p.native, p.floor, p.loss);
}

double sum_of_shares(const TrainingRun& run) {
  double sum = 0.0;
  for (const PhaseTime& time : run.breakdown) sum += time.share.value_or(0.0);
  return sum;
}

}  // namespace

TEST_CASE("a run ends at the first evaluation that meets its target, before its horizon") {
  ShortTraining training;
  training.recipe = short_recipe(1000, 1.5);
  const TrainingRun run = train_short(training);
  REQUIRE(run.converged);
  CHECK(run.curve.back().gap <= 1.5);
  for (std::size_t i = 0; i + 1 < run.curve.size(); ++i) CHECK(run.curve[i].gap > 1.5);
  CHECK(run.steps.size() == run.curve.size() * 10);
  CHECK(run.samples_to_target.value() == static_cast<double>(run.steps.size() * 32));
  CHECK(run.samples_to_target_interpolated.value() <= run.samples_to_target.value());
  CHECK(run.curve.back().seconds <= run.wall.value);
  check_that_all_held(run);
}

TEST_CASE("a run that misses its target ends at its horizon and reports its gap") {
  ShortTraining training;
  training.recipe = short_recipe(15, 0.1);
  EventLog events;
  const auto alone = make_self_group();
  const TrainingRun run = train_short(training, *alone, events);
  CHECK_FALSE(run.converged);
  CHECK_FALSE(run.samples_to_target);
  CHECK(run.curve.back().gap > 0.1);
  CHECK(events.words == std::vector<std::string>{"run_start", "block_start 0", "block_stop 320",
                                                 "eval_start 320", "eval_stop 320",
                                                 "block_start 320", "block_stop 480",
                                                 "eval_start 480", "eval_stop 480", "aborted 480"});
}

TEST_CASE("time shares of a training add up and memory is labeled", "[long]") {
  const TrainingRun run = train_short({});
  CHECK(sum_of_shares(run) == Approx(1.0));
  for (const PhaseTime& time : run.breakdown) {
    INFO(to_string(time.phase));
    CHECK(time.mean.value >= -1e-9);
  }
  for (const MemoryUse& use : run.memory)
    if (use.label == "parameters") CHECK(use.bytes >= 4 * 139'000);
}

TEST_CASE("a fixed number of steps trains without evaluation") {
  ShortTraining training;
  training.steps = 7;
  const TrainingRun run = train_short(training);
  CHECK(run.steps.size() == 7);
  CHECK(run.curve.empty());
  CHECK_FALSE(run.converged);
}

TEST_CASE("one lane and two lanes train equally up to rounding") {
  ShortTraining training;
  training.steps = 10;
  training.lanes = 1;
  const TrainingRun one = train_short(training);
  training.lanes = 2;
  const TrainingRun two = train_short(training);
  for (std::size_t i = 0; i < one.steps.size(); ++i)
    CHECK(one.steps[i].loss == Approx(two.steps[i].loss).epsilon(1e-4));
}

TEST_CASE("two ranks train and evaluate like one rank of two lanes") {
  ShortTraining training;
  training.recipe = short_recipe(20, 0.0);
  const TrainingRun one = train_short(training);
  training.lanes = 1;
  std::vector<TrainingRun> ranks(2);
  run_ranks(2, [&](Group& group) {
    ranks[static_cast<std::size_t>(group.rank())] = train_short(training, group);
  });
  CHECK(ranks[0].curve.back().gap == Approx(one.curve.back().gap).epsilon(1e-12));
  CHECK(ranks[1].curve.back().gap == ranks[0].curve.back().gap);
  for (std::size_t i = 0; i < one.steps.size(); ++i)
    CHECK(ranks[0].steps[i].loss == Approx(one.steps[i].loss).epsilon(1e-12));
  for (const TrainingCheck& check : ranks[0].checks) {
    INFO(check.check << ": " << check.text);
    CHECK(check.held);
  }
  CHECK(check_named(ranks[0], "replicas_agree").held);
  CHECK(check_named(ranks[0], "gradient_exchange").held);
}

TEST_CASE("a resumed training equals an uninterrupted one bit for bit", "[long]") {
  ShortTraining training;
  training.recipe = short_recipe(35, 0.0);
  const TrainingRun whole = train_short(training);
  const TemporaryDirectory folder;
  training.checkpoint = folder.path();
  training.steps = 25;  // ends between two checkpoints, as if it were killed
  const TrainingRun first = train_short(training);
  CHECK(first.checkpoints.size() == 2);
  CHECK(first.breakdown.at(static_cast<std::size_t>(RunPhase::checkpoint)).mean.value > 0.0);
  training.steps = 0;
  training.resume = true;
  const TrainingRun rest = train_short(training);
  CHECK(rest.first_step == 20);
  REQUIRE(rest.steps.size() == 15);
  for (std::size_t i = 0; i < rest.steps.size(); ++i)
    CHECK(rest.steps[i].loss == whole.steps[20 + i].loss);
  CHECK(rest.curve.back().gap == whole.curve.back().gap);
  CHECK(rest.curve.back().samples == whole.curve.back().samples);

  const TemporaryDirectory other;
  training.checkpoint = other.path();
  train_until_killed(training, 20 * 32);  // a run that evaluates, with nothing to go on from yet
  const TrainingRun evaluated = train_short(training);
  CHECK(evaluated.first_step == 20);
  REQUIRE(evaluated.curve.size() == whole.curve.size());
  for (std::size_t i = 0; i < whole.curve.size(); ++i) {
    INFO("point " << i);
    CHECK(judged(evaluated.curve[i]) == judged(whole.curve[i]));
  }
}

TEST_CASE("a run whose checkpoint met the target trains on only for a harder target") {
  ShortTraining training;
  training.recipe = short_recipe(1000, 1.5);
  const TemporaryDirectory folder;
  training.checkpoint = folder.path();
  const TrainingRun first = train_short(training);
  REQUIRE(first.converged);
  training.resume = true;
  const TrainingRun again = train_short(training);
  CHECK(again.converged);
  CHECK(again.steps.empty());
  CHECK(again.first_step == static_cast<std::int64_t>(first.steps.size()));
  REQUIRE(again.curve.size() == first.curve.size());
  CHECK(again.curve.back().seconds == first.curve.back().seconds);
  CHECK(again.samples_to_target == first.samples_to_target);
  CHECK(again.samples_to_target_interpolated == first.samples_to_target_interpolated);
  training.recipe.target = 0.9 * first.curve.back().gap;
  const TrainingRun harder = train_short(training);
  CHECK(harder.converged);
  CHECK(harder.steps.size() >= 10);
  CHECK(harder.curve.size() > first.curve.size());
}

TEST_CASE("a checkpoint of another training is refused") {
  ShortTraining training;
  const TemporaryDirectory folder;
  training.checkpoint = folder.path();
  training.steps = 10;
  train_short(training);
  training.recipe.batch = 16;
  training.resume = true;
  CHECK_THROWS_AS(train_short(training), Error);
}

TEST_CASE("a training with a wrong backward pass stays above a correct one", "[long]") {
  ShortTraining training;
  training.recipe = short_recipe(100, 0.0);
  const double sound = train_short(training).curve.back().gap;
  training.recipe.target = 1.05 * sound;
  training.inject = llama_faults().at(1).inject;  // softmax without its row sum, in f32 too
  const TrainingRun faulty = train_short(training);
  INFO("sound " << sound << ", faulty " << faulty.curve.back().gap);
  CHECK_FALSE(faulty.converged);
}

}  // namespace bench::training
