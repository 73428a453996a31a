// Trainings of mixtures of experts that are divided over ranks.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/divided_training.h"
#include "tests/training/faulty_experts.h"
#include "tests/training/faulty_messages.h"
#include "training/trainer/memory_need.h"
#include "training/workloads/moe.h"

namespace bench::training {
using Catch::Matchers::Contains;
namespace {

/// Four steps of 8 samples, evaluated on so few at the end that some ranks have none.
ShortTraining expert_training(int ep) {
  ShortTraining training;
  training.workload = "moe";
  training.recipe = short_recipe(4, 0.0);
  training.recipe.batch = 8;
  training.recipe.evaluation_samples = 3;
  training.recipe.micro_batch = 1;
  training.split.expert = ep;
  return training;
}

/// Of the 64 tokens of a sample, for four experts.
constexpr std::size_t kBytesOfGates = 64 * 4 * sizeof(float);

bool has_negative(std::span<const std::byte> floats) {
  std::vector<float> values(floats.size() / sizeof(float));
  std::memcpy(values.data(), floats.data(), floats.size());
  return std::ranges::any_of(values, [](float value) { return value < 0.0f; });
}

std::unique_ptr<Workload> moe_with_capacity() {
  MoeSetting setting = moe_setting("tiny");
  setting.shape.capacity_factor = 0.75;
  setting.shape.shared_hidden = 16;
  return make_moe_workload("capacity", setting, 1);
}

}  // namespace

TEST_CASE("experts that ranks divide train as those of one rank") {
  const TrainingRun alone = train_short(expert_training(1));
  struct Case {
    int ep, ranks;
    bool recompute = false;
  };
  for (const auto& [ep, ranks, recompute] :
       {Case{2, 2}, Case{4, 4}, Case{8, 8}, Case{2, 4}, Case{2, 8, true}, Case{4, 8}}) {
    INFO("ep " << ep << ", " << ranks << " ranks");
    ShortTraining training = expert_training(ep);
    training.recompute = recompute;
    const TrainingRun run = train_divided(training, ranks);
    check_that_all_held(run);
    for (const char* check : {"divided_model", "gradient_exchange", "replicas_agree"})
      CHECK(check_named(run, check).held);
    CHECK(distance(run, alone) < 2e-5);
    CHECK(seconds_of(run, RunPhase::expert_exchange) > 0.0);
    for (const auto& [name, value] : alone.parts) {
      INFO(name);
      const auto same = std::ranges::find(run.parts, name, &std::pair<std::string, double>::first);
      REQUIRE(same != run.parts.end());
      CHECK(same->second == Approx(value).epsilon(1e-3));
    }
  }
}

TEST_CASE("neighbouring copies divide the experts of a model") {
  ModelSplit split;
  split.expert = 2;
  CHECK(copies_of_model(split, 6) == 6);
  for (int rank = 0; rank < 6; ++rank) {
    const ModelPart part = part_of_rank(split, rank, 6);
    CHECK(part.expert_rank == rank % 2);
    CHECK(part.expert_ranks == 2);
    CHECK_FALSE(part.is_whole());
  }
  run_ranks(6, [&](Group& group) {
    const ModelRanks ranks(group, split);
    const auto is = [](const Group& of, int rank, int size) {
      return of.rank() == rank && of.size() == size;
    };
    require(is(ranks.experts(), group.rank() % 2, 2) && is(ranks.replicas(), group.rank() / 2, 3) &&
                is(ranks.data(), group.rank(), 6) && ranks.copy() == group.rank(),
            "groups", "of rank " + std::to_string(group.rank()));
  });
}

TEST_CASE("a capacity and a shared expert do not change when ranks divide the others") {
  ShortTraining training = expert_training(1);
  training.make = moe_with_capacity;
  const TrainingRun alone = train_short(training);
  training.split.expert = 2;
  const TrainingRun run = train_divided(training, 4);
  check_that_all_held(run);
  CHECK(distance(run, alone) < 2e-5);
}

TEST_CASE("a rank has its part of the experts, and their gradients and optimizer state") {
  ShortTraining training = expert_training(1);
  training.lanes = 1;
  const double whole = bytes_of(train_divided(training, 1), "parameters");
  training.split.expert = 4;
  const TrainingRun run = train_divided(training, 4);
  const MoeShape shape = moe_preset("tiny");
  const double of_experts =
      4.0 * static_cast<double>(shape.layers * shape.experts * 3 * shape.width * shape.hidden);
  CHECK(bytes_of(run, "parameters") == Approx(whole - 0.75 * of_experts).epsilon(0.01));
  CHECK(bytes_of(run, "gradients") == Approx(bytes_of(run, "parameters")).epsilon(0.01));
  CHECK(bytes_of(run, "optimizer") == Approx(2 * bytes_of(run, "parameters")).epsilon(0.01));
}

TEST_CASE("faults between ranks that divide experts are found by a check") {
  const auto lose_half = [](std::span<std::byte> data) {
    std::ranges::fill(data.first(data.size() / 2), std::byte{});
  };
  const auto lose_rows = [lose_half](std::span<std::byte> data) {
    if (data.size() != kBytesOfGates) lose_half(data);
  };
  struct Fault {
    const char* what;
    const char* check;
    MessageFaults faults = {};
    void (*inject)(KernelSet&) = nullptr;
    int ranks = 2;
  };
  std::vector<std::byte> before;
  const Fault cases[] = {{"half of what was sent to experts and back is lost",
                          "divided_model",
                          {.received = lose_rows}},
                         {"rows are those of the message before",
                          "divided_model",
                          {.received =
                               [&before](std::span<std::byte> data) {
                                 if (data.size() == kBytesOfGates) return;
                                 std::vector<std::byte> now(data.begin(), data.end());
                                 const std::size_t same = std::min(before.size(), data.size());
                                 std::copy_n(before.begin(), same, data.begin());
                                 before = std::move(now);
                               }}},
                         {"gradients of gates, which unlike gates may be negative, are lost",
                          "divided_model",
                          {.received =
                               [](std::span<std::byte> data) {
                                 if (data.size() == kBytesOfGates && has_negative(data))
                                   std::ranges::fill(data, std::byte{});
                               }}},
                         {"a part of the summed gradients of what is not divided is lost",
                          "gradient_exchange",
                          {.collected =
                               [lose_half](CollectiveOp op, int, std::span<std::byte> data) {
                                 if (op == CollectiveOp::all_to_all) lose_half(data);
                               }}},
                         {"a part of the summed gradients of experts is lost",
                          "gradient_exchange",
                          {.collected =
                               [lose_half](CollectiveOp op, int ranks, std::span<std::byte> data) {
                                 if (op == CollectiveOp::all_to_all && ranks == 2) lose_half(data);
                               }},
                          nullptr,
                          4},
                         {"an element of what was gathered differs on one rank",
                          "replicas_agree",
                          {.collected =
                               [](CollectiveOp op, int, std::span<std::byte> data) {
                                 if (op == CollectiveOp::all_gather) data[2] ^= std::byte{1};
                               }}},
                         {"the second expert of each rank gets no gradient",
                          "divided_model",
                          {},
                          replace_experts<StaleExpert>}};
  for (const auto& [what, check, faults, inject, ranks] : cases) {
    ShortTraining training = expert_training(2);
    if (inject != nullptr) training.inject = inject;
    TrainingRun run;
    run_ranks(ranks, [&, &check_faults = faults](Group& group) {
      const MessageFaults none;
      FaultyMessages faulty(group, group.rank() == 1 ? check_faults : none);
      TrainingRun own = train_short(training, faulty);
      if (group.rank() == 0) run = std::move(own);
    });
    INFO(what);
    CHECK_FALSE(check_named(run, check).held);
  }
}

TEST_CASE("ranks that disagree about the choices of tokens end the training, and wait for nobody") {
  const MessageFaults lost{.received = [](std::span<std::byte> data) {
    if (data.size() == kBytesOfGates) std::ranges::fill(data, std::byte{});
  }};
  std::string text;
  CHECK_THROWS_AS(run_ranks(2,
                            [&](Group& group) {
                              const MessageFaults none;
                              FaultyMessages faulty(group, group.rank() == 1 ? lost : none);
                              try {
                                train_short(expert_training(2), faulty);
                              } catch (const Error& error) {
                                if (group.rank() == 1) text = error.text();
                                throw;
                              }
                            }),
                  Error);
  CHECK_THAT(text, Contains("another size than expected"));
}

TEST_CASE("divided experts resume from their checkpoints to the bit, with the same split") {
  const TemporaryDirectory folder;
  ShortTraining training = resumed_to_the_bit(expert_training(2), 4, folder.path());
  training.split.expert = 4;
  CHECK_THROWS_WITH(train_divided(training, 4), Contains("saved by a training with ep 2"));
}

TEST_CASE("experts that cannot be divided are refused with what to do") {
  const auto refused = [](const MoeShape& shape, const ModelPart& part) {
    try {
      make_moe(shape, 1, Dtype::f32, false, part);
    } catch (const Error& error) {
      return error.text();
    }
    return std::string();
  };
  CHECK_THAT(refused(moe_preset("tiny"), {.expert_ranks = 3}),
             Contains("use an ep that divides 8"));
  CHECK_THAT(refused(moe_preset("tiny_dense"), {.expert_ranks = 2}),
             Contains("use a preset with several experts"));
  CHECK_THAT(refused(moe_preset("tiny"), {.tensor_ranks = 2}), Contains("divided by ep only"));
  ShortTraining training = expert_training(2);
  CHECK_THROWS_WITH(train_divided(training, 3), Contains("ep 2 = 2 ranks"));
  training.parallel.shard_optimizer = true;
  CHECK_THROWS_WITH(train_divided(training, 4), Contains("which a sharded optimizer"));
  training.parallel.shard_optimizer = false;
  training.workload = "llm";
  CHECK_THROWS_WITH(train_divided(training, 2), Contains("llm has no experts"));
}

TEST_CASE("the memory of a rank with a part of the experts is known before") {
  for (const std::int64_t bucket_bytes :
       {DataParallelOptions{}.bucket_bytes, std::int64_t{10'000}}) {
    ShortTraining training = expert_training(2);
    training.parallel.bucket_bytes = bucket_bytes;
    TrainerOptions options;
    options.recipe = training.recipe;
    options.split = training.split;
    const BatchSplit split = split_batch(options, 4);
    CHECK(split.micro_batches == 2);
    const auto workload = make_workload("moe", "tiny", 1);
    const MemoryNeed need = memory_need(
        *workload, split, Dtype::f32, false,
        {part_of_rank(training.split, 1, 4), training.split.schedule, training.parallel});
    const TrainingRun run = train_divided(training, 4);
    for (const MemoryUse& use : need.uses) {
      INFO(use.label << ", buckets of " << bucket_bytes << " bytes");
      CHECK(bytes_of(run, use.label) == static_cast<double>(use.bytes));
    }
  }
}

}  // namespace bench::training
