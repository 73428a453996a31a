// Faults of a training of adapters that the target misses, and what finds each.
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/faulty_training.h"
#include "tests/training/lora_training.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

const double kPeakRate = lora_setting("tiny").training.recipe.schedule.peak;

/// Changes an element of the frozen embedding in one lookup.
class ChangingEmbedding final : public EmbeddingKernels {
 public:
  explicit ChangingEmbedding(std::unique_ptr<EmbeddingKernels> real) : real_(std::move(real)) {}
  void forward(View ids, View table, View y) override {
    if (calls_++ == 5) table.as<float>()[7] += 1e-3F;
    real_->forward(ids, table, y);
  }
  void backward(View ids, View y_gradient, View table_gradient, bool add) override {
    real_->backward(ids, y_gradient, table_gradient, add);
  }
  void add_positions(View x, View table, std::int64_t sequence, View y) override {
    real_->add_positions(x, table, sequence, y);
  }
  void positions_backward(View y_gradient, std::int64_t sequence, View table_gradient,
                          bool add) override {
    real_->positions_backward(y_gradient, sequence, table_gradient, add);
  }

 private:
  std::unique_ptr<EmbeddingKernels> real_;
  int calls_ = 0;
};

/// Of two ranks, where rank 1 loses a share of its gradient in the check.
std::vector<TrainingRun> two_ranks(double share) {
  const Pretrained& base = quick_base();  // not by two threads at once
  return train_on_ranks(2, share, [&](Group& group, RunObserver& observer, int lanes) {
    LoraTraining training{.steps = 12, .base = &base};
    training.options.lanes = lanes;
    return train_lora(training, group, observer);
  });
}

}  // namespace

TEST_CASE("adapters train, and all checks of the run hold") {
  const TrainingRun run = train_lora({.steps = 30});
  check_that_all_held(run);
  CHECK(check_named(run, "base_frozen").text == "15 frozen parameters were unchanged at 3 steps");
  CHECK_THAT(check_named(run, "learning_rate").text, Contains("3 updates"));
  CHECK(run.curve.back().gap < quick_base().unadapted - 0.005);
}

TEST_CASE("an adapter that is never updated is found and named", "[long]") {
  const TrainingRun run = train_lora({.inject = without_updates_of(4 * 192)});
  const TrainingCheck& check = check_named(run, "parameters_move");
  CHECK_FALSE(check.held);
  // Without B, A has no gradient either.
  CHECK_THAT(check.text, Contains("layer0.wqkv.lora_b") && Contains("and 1 more"));
}

TEST_CASE("a frozen weight that changes is found and named", "[long]") {
  const TrainingRun run = train_lora({.inject = [](KernelSet& set) {
    set.embedding = std::make_unique<ChangingEmbedding>(std::move(set.embedding));
  }});
  const TrainingCheck& check = check_named(run, "base_frozen");
  CHECK_FALSE(check.held);
  CHECK(check.text == "'embedding' of rank 0 changed within 10 steps");
}

TEST_CASE("updates that ignore the warm-up are found", "[long]") {
  const TrainingRun run = train_lora({.inject = with_fixed_rate(kPeakRate)});
  const TrainingCheck& check = check_named(run, "learning_rate");
  CHECK_FALSE(check.held);
  CHECK(check.text ==
        "the update of step 1 had a learning rate of 0.004, but the schedule has 0.0004");
}

TEST_CASE("updates that ignore the decay are found", "[long]") {
  LoraTraining training{.steps = 40, .inject = with_fixed_rate(kPeakRate)};
  Schedule& schedule = training.setting.training.recipe.schedule;
  schedule.warmup = 0;
  schedule.horizon = 40;
  const TrainingCheck check = check_named(train_lora(training), "learning_rate");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("the update of step 21"));
  training.inject = {};
  CHECK(check_named(train_lora(training), "learning_rate").held);
}

TEST_CASE("a source that shows the next token is found by a gap below the floor", "[long]") {
  const LoraSetting setting = quick_lora(120);
  const Pretrained base = base_of(setting);
  LoraTraining training{
      .setting = setting, .steps = 60, .base = &base, .change = [](ChangedWorkload& samples) {
        samples.spoil = [](Split, const Model& model, const Lane& lane) {
          const View tokens = lane.view(model.inputs[0]);
          std::memcpy(tokens.data, lane.view(model.inputs[1]).data,
                      static_cast<std::size_t>(tokens.elements()) * 4);
        };
      }};
  training.setting.training.recipe.schedule.peak = 2e-2;
  const TrainingRun run = train_lora(training);
  const TrainingCheck& check = check_named(run, "above_floor");
  INFO(check.text);
  CHECK_FALSE(check.held);
  CHECK(check_named(run, "data").held);  // the same samples again
}

TEST_CASE("repeated samples of a dialect are found", "[long]") {
  const TrainingRun run =
      train_lora({.steps = 40, .change = [](ChangedWorkload& samples) { samples.repeat = 320; }});
  const TrainingCheck& check = check_named(run, "data");
  CHECK_FALSE(check.held);
  CHECK_THAT(check.text, Contains("repeats sample"));
}

TEST_CASE("gradients of adapters lost between two ranks are found by both", "[long]") {
  for (const TrainingRun& run : two_ranks(0.0)) check_that_all_held(run);
  for (const double share : {1.0, 0.1})
    for (const TrainingRun& run : two_ranks(share))
      CHECK_FALSE(check_named(run, "gradient_exchange").held);
}

TEST_CASE("two ranks of one lane train adapters like one rank of two lanes, to the bit") {
  const std::vector<TrainingRun> two = two_ranks(0.0);
  const TrainingRun one = train_lora({.steps = 12});
  REQUIRE(one.steps.size() == two[0].steps.size());
  for (std::size_t i = 0; i < one.steps.size(); ++i)
    CHECK(one.steps[i].gradient_norm == two[1].steps[i].gradient_norm);
  CHECK(one.curve.back().gap == Approx(two[0].curve.back().gap).epsilon(1e-12));
}

}  // namespace bench::training
