// Trainings of models that are divided over ranks: tensor ranks, stages of a pipeline, and copies.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/divided_training.h"
#include "tests/training/faulty_messages.h"
#include "training/host/host_kernels.h"
#include "training/models/llm.h"
#include "training/trainer/memory_need.h"
#include "training/workloads/llm.h"

namespace bench::training {
using Catch::Matchers::Contains;
namespace {

/// Four steps of 8 samples, evaluated at the end.
ShortTraining divided_training(int tp, int pp) {
  ShortTraining training;
  training.recipe = short_recipe(4, 0.0);
  training.recipe.batch = 8;
  training.recipe.evaluation_samples = 4;
  training.recipe.micro_batch = pp > 1 ? 1 : 2;
  training.split = {tp, pp};
  return training;
}

/// An llm whose query heads share key-value heads, one of which sees shifted keys.
std::unique_ptr<Workload> llm_of_grouped_heads() {
  LlmSetting setting{.preset = "grouped", .training = llm_training("tiny")};
  setting.shape = {3, 32, 48, 8, 2, 16, 64, false, false, 1, 1e3};
  return make_llm_workload_from(setting);
}

/// An llm of eight layers.
std::unique_ptr<Workload> deep_llm() {
  LlmSetting setting{.preset = "eight", .training = llm_training("tiny")};
  setting.shape = {8, 32, 48, 4, 4, 16, 64, false, false, 0, 1e3};
  return make_llm_workload_from(setting);
}

void lose_all(std::span<std::byte> data) { std::ranges::fill(data, std::byte{}); }

}  // namespace

TEST_CASE("a divided model has the losses, gradient norms and quality of one rank") {
  const TrainingRun alone = train_short(divided_training(1, 1));
  struct Case {
    int tp, pp, ranks;
    PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
    bool recompute = false;
    int zero = 0;
    bool sequence_parallel = false;
    int cp = 1;
  };
  constexpr auto kZeroBubble = PipelineSchedule::zero_bubble;
  constexpr auto k1f1b = PipelineSchedule::one_forward_one_backward;
  const Case cases[] = {{2, 1, 2},
                        {1, 2, 2},
                        {1, 2, 2, PipelineSchedule::gpipe, true},
                        {2, 2, 4},
                        {2, 1, 4, k1f1b, true, 1},
                        {1, 2, 4, k1f1b, false, 1},
                        {4, 1, 4},
                        {2, 1, 2, k1f1b, false, 0, true},
                        {2, 2, 4, k1f1b, true, 0, true},
                        {1, 1, 4, k1f1b, true, 3},
                        {1, 1, 2, k1f1b, false, 2},
                        {1, 1, 2, k1f1b, false, 3},
                        {2, 1, 4, k1f1b, true, 3, true},
                        {1, 2, 4, k1f1b, false, 3},
                        {1, 1, 2, k1f1b, false, 0, false, 2},
                        {1, 1, 4, k1f1b, true, 1, false, 4},
                        {2, 1, 8, k1f1b, false, 0, true, 2},
                        {1, 2, 4, k1f1b, false, 0, false, 2},
                        {1, 1, 4, k1f1b, true, 3, false, 2},
                        {1, 2, 2, kZeroBubble},
                        {1, 2, 4, kZeroBubble, true, 1},
                        {2, 2, 8, kZeroBubble, false, 0, true}};
  for (const auto& [tp, pp, ranks, schedule, recompute, zero, sequence_parallel, cp] : cases) {
    INFO("tp " << tp << ", sp " << sequence_parallel << ", cp " << cp << ", pp " << pp << ", zero "
               << zero << ", " << ranks << " ranks");
    ShortTraining training = divided_training(tp, pp);
    training.split.schedule = schedule;
    training.split.sequence_parallel = sequence_parallel;
    training.recompute = recompute;
    training.parallel.shard_optimizer = zero == 1;
    training.split.shard_parameters = zero > 1;
    training.split.keep_gathered = zero == 2;
    training.split.context = cp;
    const TrainingRun run = train_divided(training, ranks);
    check_that_all_held(run);
    CHECK(check_named(run, "divided_model").held);
    CHECK(distance(run, alone) < 2e-5);
    CHECK((seconds_of(run, RunPhase::tensor_exchange) > 0.0) == (tp > 1));
    CHECK((seconds_of(run, RunPhase::context_exchange) > 0.0) == (cp > 1));
    CHECK((seconds_of(run, RunPhase::pipeline_wait) > 0.0) == (pp > 1));
  }
}

TEST_CASE("grouped and shifted heads are divided with their queries") {
  ShortTraining training = divided_training(1, 1);
  training.make = llm_of_grouped_heads;
  const TrainingRun alone = train_short(training);
  training.split = {2, 2};
  training.split.sequence_parallel = true;
  const TrainingRun run = train_divided(training, 4);
  check_that_all_held(run);
  CHECK(distance(run, alone) < 2e-5);
  training.split = {2};
  training.split.context = 2;
  const TrainingRun of_tokens = train_divided(training, 4);
  check_that_all_held(of_tokens);
  CHECK(distance(of_tokens, alone) < 2e-5);
}

TEST_CASE("a vocabulary is divided, evenly or not, also of a head that is the embedding") {
  struct Case {
    std::int64_t vocabulary;
    bool tied_head, sequence_parallel;
    int tp = 2, pp = 1, zero = 0;
  };
  for (const auto& [vocabulary, tied_head, sequence_parallel, tp, pp, zero] :
       {Case{65, false, false, 4}, Case{64, true, false}, Case{65, true, true},
        Case{65, false, true, 2, 2}, Case{65, false, false, 2, 1, 3}}) {
    INFO(vocabulary << ", tied " << tied_head << ", sp " << sequence_parallel << ", tp " << tp
                    << ", pp " << pp << ", zero " << zero);
    LlmSetting setting{.preset = "tokens", .training = llm_training("tiny")};
    setting.shape = {2, 32, 48, 4, 4, 16, vocabulary, false, tied_head, 0, 1e3};
    ShortTraining training = divided_training(1, 1);
    training.make = [setting] { return make_llm_workload_from(setting); };
    const TrainingRun alone = train_short(training);
    training.recipe.micro_batch = pp > 1 ? 1 : 2;
    training.split = {tp, pp};
    training.split.sequence_parallel = sequence_parallel;
    training.split.shard_parameters = zero == 3;
    const TrainingRun run = train_divided(training, zero == 3 ? 2 * tp * pp : tp * pp);
    check_that_all_held(run);
    CHECK(check_named(run, "divided_model").held);
    CHECK(distance(run, alone) < 2e-5);
  }
}

TEST_CASE("rows of a divided embedding that no token selects need not move") {
  LlmSetting setting{.preset = "tokens", .training = llm_training("tiny")};
  setting.shape = {2, 32, 48, 4, 4, 16, 8192, false, false, 0, 1e3};
  setting.training.adamw.decay = 0.0;
  ShortTraining training = divided_training(2, 1);
  training.make = [setting] { return make_llm_workload_from(setting); };
  const TrainingRun run = train_divided(training, 2);
  CHECK(check_named(run, "parameters_move").held);
}

TEST_CASE("a model whose stages have several chunks of layers is that of one rank") {
  ShortTraining training = divided_training(1, 1);
  training.make = deep_llm;
  const TrainingRun alone = train_short(training);
  struct Case {
    int tp, pp, vp, ranks, zero = 0;
    bool recompute = false;
  };
  // With two stages, activations and gradients pass between the same two ranks both ways.
  for (const auto& [tp, pp, vp, ranks, zero, recompute] :
       {Case{1, 2, 2, 2}, Case{1, 2, 4, 2, 0, true}, Case{1, 4, 2, 4}, Case{2, 2, 2, 4, 0, true},
        Case{1, 2, 3, 4, 1}, Case{1, 2, 2, 4, 3}}) {
    INFO("tp " << tp << ", pp " << pp << ", vp " << vp << ", zero " << zero << ", " << ranks);
    training.recompute = recompute;
    training.recipe.micro_batch = 1;
    training.split = {tp, pp};
    training.split.chunks = vp;
    training.split.shard_parameters = zero == 3;
    training.parallel.shard_optimizer = zero == 1;
    const TrainingRun run = train_divided(training, ranks);
    check_that_all_held(run);
    CHECK(check_named(run, "divided_model").held);
    CHECK(distance(run, alone) < 2e-5);
  }
}

TEST_CASE("weight gradients that wait are those of 1f1b to the bit") {
  ShortTraining training = divided_training(1, 2);
  const TrainingRun usual = train_divided(training, 2);
  training.split.schedule = PipelineSchedule::zero_bubble;
  CHECK(distance(train_divided(training, 2), usual) == 0.0);
}

TEST_CASE("divided models train in 16 bits, within their rounding of the whole one") {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16}) {
    ShortTraining training = divided_training(2, 1);
    training.dtype = dtype;
    training.split.sequence_parallel = true;
    check_that_all_held(train_divided(training, 2));
    training = divided_training(1, 2);
    training.dtype = dtype;
    training.split.shard_parameters = true;
    check_that_all_held(train_divided(training, 4));
    training = divided_training(1, 1);
    training.dtype = dtype;
    training.split.context = 2;
    check_that_all_held(train_divided(training, 2));
  }
}

TEST_CASE("a whole model that does not fit is not compared, and the run says so") {
  ShortTraining training = divided_training(2, 1);
  training.check_bytes = 1000.0;
  const TrainingRun run = train_divided(training, 2);
  CHECK(run.not_compared.find("the whole model needs") != std::string::npos);
  CHECK(std::ranges::count(run.checks, "divided_model", &TrainingCheck::check) == 0);
}

TEST_CASE("parameters that copies cannot share equally are padded") {
  ShortTraining training = divided_training(1, 1);
  training.recipe.batch = 12;
  const TrainingRun alone = train_short(training);
  training.split.shard_parameters = true;
  const TrainingRun run = train_divided(training, 12);  // the last has only padding of a gain
  check_that_all_held(run);
  CHECK(distance(run, alone) < 2e-5);
}

TEST_CASE("tensor ranks need half of the memory for parameters each, apart from gains") {
  ShortTraining training = divided_training(1, 1);
  training.lanes = 1;
  const TrainingRun alone = train_divided(training, 1);
  training.split.tensor = 2;
  const TrainingRun divided = train_divided(training, 2);
  for (const char* label : {"parameters", "gradients", "optimizer"}) {
    INFO(label);
    CHECK(bytes_of(divided, label) / bytes_of(alone, label) == Approx(0.5).epsilon(0.01));
  }
}

TEST_CASE("copies that share parameters need a part of the memory for them") {
  ShortTraining training = divided_training(1, 1);
  training.lanes = 1;
  const TrainingRun alone = train_divided(training, 4);
  training.split.shard_parameters = true;
  const TrainingRun gathered_twice = train_divided(training, 4);
  training.split.keep_gathered = true;
  const TrainingRun kept = train_divided(training, 4);
  for (const char* label : {"parameters", "gradients", "optimizer"}) {
    INFO(label);
    CHECK(bytes_of(gathered_twice, label) / bytes_of(alone, label) == Approx(0.25).epsilon(0.01));
    CHECK(bytes_of(kept, label) == bytes_of(gathered_twice, label));
  }
  CHECK(bytes_of(gathered_twice, "activations") < bytes_of(kept, "activations"));
}

TEST_CASE("faults of the exchange between a model's ranks are found by a check") {
  struct Fault {
    const char* check;
    int tp, pp;
    MessageFaults faults;
    int cp = 1, vp = 1;
  };
  const auto lose_half = [](std::span<std::byte> data) {
    std::ranges::fill(data.first(data.size() / 2), std::byte{});
  };
  std::vector<std::byte> before;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  int statistics = 0;  // of logits, which were lost
  const auto lose_statistics = [&statistics](CollectiveOp op, int, std::span<std::byte> data) {
    constexpr std::size_t kRows = 2 * 64;  // two samples of 64 tokens
    if (op != CollectiveOp::all_gather ||
        data.size() != 2 * kRows * kLogitStatistics * sizeof(float))
      return;
    std::ranges::fill(data.first(data.size() / 2), std::byte{});
    ++statistics;
  };
  int large = 0;
  const Fault cases[] = {
      {"divided_model",
       2,
       1,  // a rank's part is lost from each sum
       {.collected =
            [](CollectiveOp op, int, std::span<std::byte> data) {
              if (op == CollectiveOp::all_to_all)
                std::ranges::fill(data.first(data.size() / 2), std::byte{});
            }}},
      {"replicas_agree",
       2,
       1,  // an element of what was gathered is wrong on one rank
       {.collected =
            [](CollectiveOp op, int, std::span<std::byte> data) {
              if (op == CollectiveOp::all_gather) data[2] ^= std::byte{1};
            }}},
      {"divided_model",
       2,
       1,  // the statistics of the other rank's logits
       {.collected = lose_statistics}},
      {"divided_model",
       1,
       2,  // the message before instead of this one
       {.received =
            [&before](std::span<std::byte> data) {
              std::vector<std::byte> now(data.begin(), data.end());
              if (before.size() == data.size()) std::ranges::copy(before, data.begin());
              before = std::move(now);
            }}},
      {"divided_model",
       1,
       2,  // half of a message is lost
       {.received = lose_half}},
      {"divided_model",
       1,
       2,  // messages to the first of two chunks, which come in twos
       {.received =
            [lose_half, number = 0](std::span<std::byte> data) mutable {
              if (number++ / 2 % 2 == 0) lose_half(data);
            }},
       1,
       2},
      {"divided_model",
       1,
       1,  // half of the keys of a rank with other tokens
       {.received = lose_half},
       2},
      {"divided_model",
       1,
       1,  // keys that were used before instead of these
       {.received =
            [&before](std::span<std::byte> data) {
              std::vector<std::byte> now(data.begin(), data.end());
              if (before.size() == data.size()) std::ranges::copy(before, data.begin());
              before = std::move(now);
            }},
       2},
      {"divided_model",
       1,
       1,  // the last keys before a chunk, the smallest messages
       {.received =
            [&least](std::span<std::byte> data) {
              if (data.size() <= least) lose_all(data);
              least = std::min(least, data.size());
            }},
       2},
      {"divided_model",
       1,
       1,  // gradients of keys: the second and third of three large messages
       {.received =
            [&large, largest = std::size_t{0}](std::span<std::byte> data) mutable {
              largest = std::max(largest, data.size());
              if (data.size() == largest && large++ % 4 > 1) lose_all(data);
            }},
       2},
      {"gradient_exchange",
       1,
       1,  // a rank's part of the summed gradients of parameters
       {.collected =
            [lose_half](CollectiveOp op, int, std::span<std::byte> data) {
              if (op == CollectiveOp::all_to_all) lose_half(data);
            }},
       2}};
  for (const auto& [check, tp, pp, faults, cp, vp] : cases) {
    ShortTraining training = divided_training(tp, pp);
    if (vp > 1) training.make = deep_llm;
    training.split.context = cp;
    training.split.chunks = vp;
    TrainingRun run;
    run_ranks(2, [&](Group& group) {
      const MessageFaults none;
      FaultyMessages faulty(group, group.rank() == 1 ? faults : none);
      TrainingRun own = train_short(training, faulty);
      if (group.rank() == 0) run = std::move(own);
    });
    INFO(check << ", tp " << tp << ", pp " << pp << ", cp " << cp);
    CHECK_FALSE(check_named(run, check).held);
  }
  CHECK(statistics > 4);
}

TEST_CASE("a divided training resumes from its checkpoints to the bit") {
  const TemporaryDirectory folder;
  ShortTraining training = resumed_to_the_bit(divided_training(2, 2), 4, folder.path());
  training.split = {4, 1};
  CHECK_THROWS_WITH(train_divided(training, 4), Contains("saved by a training with split"));
}

TEST_CASE("checkpoints of stages of several chunks are not those of others") {
  const TemporaryDirectory folder;
  ShortTraining training = divided_training(1, 2);
  training.make = deep_llm;
  training.checkpoint = folder.path();
  training.checkpoint_every = 2;
  training.steps = 2;
  training.split.chunks = 2;
  train_divided(training, 2);
  training.resume = true;
  training.split.chunks = 4;
  CHECK_THROWS_WITH(train_divided(training, 2), Contains("saved by a training with chunks 2"));
}

TEST_CASE("checkpoints of ranks that divide tokens are not those of ranks that divide samples") {
  const TemporaryDirectory folder;
  ShortTraining training = divided_training(1, 1);
  training.lanes = 1;
  training.checkpoint = folder.path();
  training.checkpoint_every = 2;
  training.steps = 2;
  training.split.context = 2;
  train_divided(training, 2);
  training.resume = true;
  training.split.context = 1;
  CHECK_THROWS_WITH(train_divided(training, 2), Contains("saved by a training with context 2"));
}

TEST_CASE("models and ranks that cannot be divided are refused with what to do") {
  const auto refused = [](ShortTraining training, int ranks) {
    std::string text;
    try {
      train_divided(training, ranks);
    } catch (const Error& error) {
      text = error.text();
    }
    return text;
  };
  CHECK(refused(divided_training(2, 1), 3).find("use a multiple of 2 ranks") != std::string::npos);
  CHECK(refused(divided_training(1, 3), 3).find("use a pp of at most 2") != std::string::npos);
  CHECK(refused(divided_training(3, 1), 3).find("use a tp that divides 256") != std::string::npos);
  LlmShape few_tokens = llm_preset("tiny");
  few_tokens.hidden = 66;
  CHECK_THROWS_WITH(make_llm(few_tokens, 1, Dtype::f32, false, {}, {.tensor_ranks = 66}),
                    Contains("a vocabulary of 64 cannot be divided by tp 66"));
  ShortTraining chunks = divided_training(1, 2);
  chunks.split.chunks = 2;
  CHECK(refused(chunks, 2).find("use a vp of at most 1") != std::string::npos);
  ShortTraining context = divided_training(1, 1);
  context.recipe.batch = 5;
  context.split.context = 5;
  CHECK(refused(context, 5).find("two for each rank of cp 5") != std::string::npos);
  ShortTraining detect = divided_training(2, 1);
  detect.workload = "detect";
  CHECK(refused(detect, 2).find("remove tp, cp, pp, ep and zero above 1, or train llm") !=
        std::string::npos);
}

TEST_CASE("a pipeline gets at least four micro-batches per stage unless samples are too few") {
  Recipe recipe;
  recipe.batch = 64;
  recipe.micro_batch = 16;
  CHECK(for_pipeline(recipe, {1, 2}, 2).micro_batch == 8);
  CHECK(for_pipeline(recipe, {1, 2}, 4).micro_batch == 4);
  CHECK(for_pipeline(recipe, {2, 1}, 2).micro_batch == 16);
  recipe.micro_batch = 0;
  CHECK(for_pipeline(recipe, {1, 32}, 32).micro_batch == 1);
  recipe.batch = 60;
  CHECK(for_pipeline(recipe, {1, 3}, 3).micro_batch == 5);
  ModelSplit chunks{1, 5};
  chunks.chunks = 2;
  CHECK(for_pipeline(recipe, chunks, 5).micro_batch == 3);
  recipe.batch = 56;  // no number of samples makes a multiple of five
  CHECK(for_pipeline(recipe, chunks, 5).micro_batch == 2);
}

TEST_CASE("the memory of a part is known before it is allocated") {
  const auto [schedule, chunks] = GENERATE(std::pair{PipelineSchedule::one_forward_one_backward, 1},
                                           std::pair{PipelineSchedule::one_forward_one_backward, 2},
                                           std::pair{PipelineSchedule::zero_bubble, 1});
  ShortTraining training = divided_training(2, 2);
  training.make = deep_llm;
  training.split.schedule = schedule;
  training.split.chunks = chunks;
  const auto workload = deep_llm();
  TrainerOptions options;
  options.recipe = training.recipe;
  options.split = training.split;
  const BatchSplit split = split_batch(options, 4);
  CHECK(split.lanes == 1);
  CHECK(split.micro_batches == 8);
  MemoryNeed most;
  for (int rank = 0; rank < 4; ++rank) {
    const ModelPart part = part_of_rank(training.split, rank, 4);
    const MemoryNeed need = memory_need(*workload, split, Dtype::f32, false, {part, schedule});
    if (need.total() > most.total()) most = need;
  }
  const TrainingRun run = train_divided(training, 4);
  std::size_t compared = 0;
  for (const MemoryUse& use : most.uses)
    for (const MemoryUse& taken : run.memory)
      if (use.label == taken.label) {
        INFO(use.label);
        CHECK(taken.bytes == use.bytes);
        ++compared;
      }
  CHECK(compared == most.uses.size());
}

}  // namespace bench::training
