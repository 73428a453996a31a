// Trainings whose ranks exchange less: what they report, what their checks find, how they resume,
// and what is refused.
#include "training/trainer/exchange_rules.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/group_with.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/forgetful_kernels.h"
#include "tests/training/losing_exchange.h"
#include "tests/training/short_training.h"
#include "tests/training/two_tower_training.h"
#include "training/trainer/memory_need.h"

namespace bench::training {
using Catch::Matchers::Contains;
namespace {

const ExchangeMethod kTopK{.kind = ExchangeKind::topk, .share = 0.05};
const ExchangeMethod kFactors{.kind = ExchangeKind::powersgd, .rank = 2};
const ExchangeMethod kLocal{.kind = ExchangeKind::local, .local_steps = 4};

/// Twelve steps of 8 samples, evaluated after 4, 8 and 12.
ShortTraining exchanging(const ExchangeMethod& method) {
  ShortTraining training;
  training.recipe = short_recipe(12, 0.0);
  training.recipe.batch = 8;
  training.recipe.evaluation_every = 4;
  training.recipe.evaluation_samples = 4;
  training.checkpoint_every = 4;
  training.lanes = 1;
  training.parallel.method = method;
  return training;
}

/// By rank.
std::vector<TrainingRun> train_two(const ShortTraining& training) {
  std::vector<TrainingRun> runs(2);
  run_ranks(2, [&](Group& group) {
    runs[static_cast<std::size_t>(group.rank())] = train_short(training, group);
  });
  return runs;
}

std::int64_t bytes_labelled(const TrainingRun& run, const std::string& label) {
  for (const MemoryUse& use : run.memory)
    if (use.label == label) return use.bytes;
  return 0;
}

double seconds_in(const TrainingRun& run, RunPhase phase) {
  return run.breakdown.at(static_cast<std::size_t>(phase)).mean.value;
}

/// Arms a fault when the run's clock has stopped, so that only the check is affected.
struct ArmsForgetting final : RunObserver {
  void run_stop(std::int64_t, bool) override { armed = true; }
  bool armed = false;
};

std::string text_of_refusal(const ShortTraining& training, int ranks) {
  std::vector<std::string> texts(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Group& group) {
    try {
      train_short(training, group);
    } catch (const Error& error) {
      texts[static_cast<std::size_t>(group.rank())] = error.text();
    }
  });
  for (const std::string& text : texts) CHECK(text == texts[0]);
  return texts[0];
}

}  // namespace

TEST_CASE("trainings that exchange less pass all checks, with equal losses on all ranks") {
  for (const ExchangeMethod& method : {kTopK, kFactors, kLocal}) {
    INFO(text_of(method));
    const auto runs = train_two(exchanging(method));
    const TrainingRun& run = runs[0];
    check_that_all_held(run);
    CHECK(check_named(run, "replicas_agree").held);
    CHECK(check_named(run, method.is_local() ? "local_average" : "error_feedback").held);
    CHECK(run.curve.size() == 3);
    REQUIRE(run.steps.size() == 12);
    CHECK(run.steps.back().loss < run.steps.front().loss);
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      CHECK(run.steps[i].loss == runs[1].steps[i].loss);
      CHECK(run.steps[i].gradient_norm == runs[1].steps[i].gradient_norm);
    }
    CHECK((seconds_in(run, RunPhase::compression) > 0.0) == method.compresses());
    const std::int64_t row = bytes_labelled(run, "gradients");
    CHECK(bytes_labelled(run, std::string(kept_label(method))) ==
          (method.is_local() ? 2 : 1) * row);
  }
}

TEST_CASE("the first step of local ones has the loss of the whole batch") {
  ShortTraining ordinary = exchanging({});
  ordinary.steps = 1;
  ShortTraining local = exchanging(kLocal);
  local.steps = 1;
  CHECK(train_two(local)[0].steps[0].loss == Approx(train_two(ordinary)[0].steps[0].loss));
}

TEST_CASE("a rank left out of a compressed sum or an average is found at the end of a training") {
  for (const ExchangeMethod& method : {kFactors, kLocal}) {
    std::vector<TrainingCheck> checks(2);
    run_ranks(2, [&](Group& group) {
      LosingExchange losing(group, 1.0);
      GroupWith with_losses(group, losing);
      const TrainingRun run = train_short(exchanging(method), with_losses, losing);
      checks[static_cast<std::size_t>(group.rank())] =
          check_named(run, method.is_local() ? "local_average" : "error_feedback");
    });
    for (const TrainingCheck& check : checks) {
      INFO(check.text);
      CHECK_FALSE(check.held);
    }
  }
}

TEST_CASE("what compression takes is known before it is allocated") {
  const auto workload = make_workload("llm", "tiny", 1);
  for (const ExchangeMethod& method : {kTopK, kFactors}) {
    const ShortTraining training = exchanging(method);
    const BatchSplit split = split_batch(8, 2, 1, 1, training.recipe.micro_batch);
    const auto need =
        memory_need(*workload, split, Dtype::f32, false, {.exchange = {.method = method}}).uses;
    const auto planned = std::ranges::find(need, "exchange", &MemoryUse::label);
    REQUIRE(planned != need.end());
    const std::int64_t taken = bytes_labelled(train_two(training)[0], "exchange");
    INFO(text_of(method) << ": " << planned->bytes << " planned, " << taken << " taken");
    if (method.kind == ExchangeKind::topk)
      CHECK(taken == planned->bytes);
    else  // and the buffers in which factors are summed
      CHECK(taken > planned->bytes);
  }
}

TEST_CASE("a residual that one rank loses is found at the end of a training") {
  for (const ExchangeMethod& method : {kTopK, kFactors}) {
    std::vector<TrainingCheck> checks(2);
    run_ranks(2, [&](Group& group) {
      ArmsForgetting end;
      ShortTraining training = exchanging(method);
      if (group.rank() == 1)
        training.inject = [&](KernelSet& set) { forget_residuals(set, end.armed); };
      const TrainingRun run = train_short(training, group, end);
      checks[static_cast<std::size_t>(group.rank())] = check_named(run, "error_feedback");
    });
    for (const TrainingCheck& check : checks) {
      INFO(check.text);
      CHECK_FALSE(check.held);
      CHECK_THAT(check.text, Contains("2 ranks, " + text_of(method)));
    }
  }
}

TEST_CASE("a resumed training that exchanges less has the bits of one without interruption") {
  for (const ExchangeMethod& method : {kTopK, kFactors, kLocal}) {
    INFO(text_of(method));
    ShortTraining training = exchanging(method);
    const auto whole = train_two(training);
    const TemporaryDirectory folder;
    training.checkpoint = folder.path();
    training.steps = 10;  // saved after 4 and 8
    train_two(training);
    training.steps = 0;
    training.resume = true;
    const auto rest = train_two(training);
    CHECK(rest[0].first_step == 8);
    REQUIRE(rest[0].steps.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(rest[0].steps[i].loss == whole[0].steps[8 + i].loss);
    CHECK(rest[0].curve.back().gap == whole[0].curve.back().gap);
    training.parallel.method = {};
    CHECK_THAT(text_of_refusal(training, 2),
               Contains("saved by a training with exchange \"" + text_of(method)));
  }
}

TEST_CASE("what cannot be combined with an exchange of less is refused by all ranks") {
  CHECK_THAT(text_of_refusal(exchanging(kTopK), 1), Contains("topk=0.05 needs several ranks"));
  ShortTraining training = exchanging(kFactors);
  training.parallel.shard_optimizer = true;
  CHECK_THAT(text_of_refusal(training, 2), Contains("remove zero=1 and shard_optimizer"));
  training = exchanging(kTopK);
  training.split.tensor = 2;
  CHECK_THAT(text_of_refusal(training, 2), Contains("needs whole models"));
  training = exchanging(kLocal);
  training.dtype = Dtype::bf16;
  CHECK_THAT(text_of_refusal(training, 2), Contains("f32 and f64 only: not in bf16"));
  training = exchanging(kLocal);
  training.recipe.evaluation_every = 6;
  CHECK_THAT(text_of_refusal(training, 2),
             Contains("evaluation_every 6 is not a multiple of 4 local steps"));
}

TEST_CASE("ranks with embedding tables compress the other gradients, and take no local steps") {
  std::vector<std::string> texts(2);
  std::vector<TrainingCheck> checks(2);
  run_ranks(2, [&](Group& group) {
    const auto rank = static_cast<std::size_t>(group.rank());
    TrainerOptions options = two_tower_training(3);
    options.recipe.batch = 256;
    options.lanes = 1;
    options.parallel.method = kTopK;
    checks[rank] = check_named(train_two_tower(1, options, group).run, "error_feedback");
    options.parallel.method = kLocal;
    try {
      train_two_tower(1, options, group);
    } catch (const Error& error) {
      texts[rank] = error.text();
    }
  });
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CHECK(checks[rank].held);
    CHECK_THAT(checks[rank].text, Contains("embedding tables exchanged in full"));
    CHECK_THAT(texts[rank], Contains("embedding tables of two_tower"));
  }
}

TEST_CASE("intervals are rounded up to periods of local steps, and others stay") {
  TrainerOptions options;
  options.recipe.evaluation_every = 25;
  options.checkpoint_every = 64;
  round_to_periods(options);
  CHECK(options.recipe.evaluation_every == 25);
  options.parallel.method = {.kind = ExchangeKind::local, .local_steps = 32};
  round_to_periods(options);
  CHECK(options.recipe.evaluation_every == 32);
  CHECK(options.checkpoint_every == 64);
  options.recipe.evaluation_every = 0;
  round_to_periods(options);
  CHECK(options.recipe.evaluation_every == 0);
}

}  // namespace bench::training
