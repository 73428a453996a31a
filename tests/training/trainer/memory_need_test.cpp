// What a training is said to need, against what it takes.
#include "training/trainer/memory_need.h"

#include "tests/support/catch.h"
#include "tests/training/divided_training.h"
#include "training/host/host_kernels.h"
#include "training/trainer/trainer.h"

namespace bench::training {
namespace {

/// Bytes by label that a trainer has taken after a step.
std::map<std::string, std::int64_t> taken(const std::string& name, Dtype dtype,
                                          std::int64_t micro_batch) {
  const auto workload = make_workload(name, "tiny", 1);
  TrainerOptions options;
  options.recipe = workload->recipe();
  options.recipe.micro_batch = micro_batch;
  options.lanes = 2;
  options.dtype = dtype;
  options.steps = 1;
  const auto group = make_self_group();
  Trainer trainer(
      *workload, options, [](Dtype type) { return host_kernels(type); }, *group);
  RunObserver observer;
  std::map<std::string, std::int64_t> bytes;
  for (const MemoryUse& use : trainer.run(observer).memory) bytes[use.label] = use.bytes;
  return bytes;
}

}  // namespace

TEST_CASE("the memory that a training needs by its plans is what it takes, by label") {
  const std::pair<const char*, Dtype> trainings[] = {
      {"llm", Dtype::f32},  {"llm", Dtype::bf16},   {"two_tower", Dtype::f32},
      {"grpo", Dtype::f32}, {"detect", Dtype::f32}, {"image", Dtype::bf16},
      {"hstu", Dtype::f32}, {"rgat", Dtype::f32}};
  for (const auto& [name, dtype] : trainings) {
    const auto workload = make_workload(name, "tiny", 1);
    const BatchSplit split = split_batch(workload->recipe().batch, 1, 2, 2, 4);
    const MemoryNeed need = memory_need(*workload, split, dtype, false);
    const auto bytes = taken(name, dtype, 4);
    INFO(name << " " << to_string(dtype));
    for (const MemoryUse& use : need.uses) {
      INFO(use.label);
      CHECK(bytes.at(use.label) == use.bytes);
    }
    CHECK(need.total() > need.largest().bytes);
  }
}

TEST_CASE("what the fullest rank of a divided training takes is known before, by label") {
  struct Case {
    const char* what;
    int ranks;
    DataParallelOptions exchange = {};
    ModelSplit split = {};
    Dtype dtype = Dtype::f32;
  };
  DataParallelOptions shards{.shard_optimizer = true}, buckets{.bucket_bytes = 100'000},
      local{.method = {.kind = ExchangeKind::local, .local_steps = 2}};
  DataParallelOptions shards_of_buckets = buckets;
  shards_of_buckets.shard_optimizer = true;
  const ModelSplit cp{.context = 2}, tp{.tensor = 2}, pp{.pipeline = 2};
  for (const Case& one :
       {Case{"full", 2}, Case{"full", 4, buckets}, Case{"zero 1", 2, shards},
        Case{"zero 1, buckets", 4, shards_of_buckets}, Case{"local", 2, local},
        Case{"cp", 2, {}, cp}, Case{"cp, zero 1", 4, shards, cp}, Case{"tp, dp", 4, {}, tp},
        Case{"tp, zero 1", 4, shards, tp}, Case{"pp", 2, {}, pp},
        Case{"pp, zero 1", 4, shards_of_buckets, pp}, Case{"full", 2, buckets, {}, Dtype::f64},
        Case{"zero 1", 2, shards, {}, Dtype::bf16}}) {
    INFO(one.what << ", " << one.ranks << " ranks, " << to_string(one.dtype));
    ShortTraining training;
    training.recipe = short_recipe(2, 0.0);
    training.recipe.batch = 8;
    training.recipe.micro_batch = 2;
    training.lanes = 1;
    training.dtype = one.dtype;
    training.parallel = one.exchange;
    training.split = one.split;
    TrainerOptions options;
    options.recipe = training.recipe;
    options.lanes = 1;
    options.split = training.split;
    MemoryNeed need;
    for (int rank = 0; rank < one.ranks; ++rank) {
      MemoryNeed own = memory_need(
          *make_workload("llm", "tiny", 1), split_batch(options, one.ranks), one.dtype, false,
          {part_of_rank(training.split, rank, one.ranks), training.split.schedule, one.exchange});
      if (need.uses.empty() || own.total() > need.total()) need = std::move(own);
    }
    const TrainingRun run = train_divided(training, one.ranks);
    for (const MemoryUse& use : need.uses) {
      INFO(use.label);
      CHECK(bytes_of(run, use.label) == static_cast<double>(use.bytes));
      // Stages alone have nothing to sum.
      if (use.label == "exchange") CHECK((use.bytes > 0) == (one.what != std::string("pp")));
    }
  }
}

TEST_CASE("the memory of an exchange of less has its residual, or its outer state") {
  const auto workload = make_workload("llm", "tiny", 1);
  const auto bytes_of = [&](const ExchangeMethod& method, const char* label) -> std::int64_t {
    for (const MemoryUse& use : memory_need(*workload, {.micro_batch = 4}, Dtype::f32, false,
                                            {.exchange = {.method = method}})
                                    .uses)
      if (use.label == label) return use.bytes;
    return 0;
  };
  const std::int64_t row = bytes_of({}, "gradients");
  CHECK(bytes_of({}, "residual") == 0);
  CHECK(bytes_of({.kind = ExchangeKind::powersgd}, "residual") == row);
  CHECK(bytes_of({.kind = ExchangeKind::local}, "outer_state") == 2 * row);
  CHECK(bytes_of({}, "exchange") == 0);
  CHECK(bytes_of({.kind = ExchangeKind::local}, "exchange") == 0);
}

TEST_CASE("over ranks, the largest micro-batch is one below the first that does not fit") {
  const auto workload = make_workload("llm", "tiny", 1);
  const DataParallelOptions shards{.shard_optimizer = true};
  for (const DataParallelOptions& exchange : {DataParallelOptions{}, shards}) {
    const double bytes = static_cast<double>(
        memory_need(*workload, {.batch = 28, .ranks = 4, .lanes = 1, .micro_batch = 7}, Dtype::f32,
                    false, {.exchange = exchange})
            .total());
    CHECK(largest_micro_batch(*workload, 1, Dtype::f32, false, bytes, exchange, 4) == 7);
    CHECK(largest_micro_batch(*workload, 1, Dtype::f32, false, bytes - 1.0, exchange, 4) == 6);
  }
}

TEST_CASE("the largest micro-batch is one below the first that does not fit") {
  const auto workload = make_workload("llm", "tiny", 1);
  const auto need = [&](std::int64_t samples) {
    return static_cast<double>(
        memory_need(*workload, {.lanes = 2, .micro_batch = samples}, Dtype::f32, false).total());
  };
  const auto largest = [&](double bytes) {
    return largest_micro_batch(*workload, 2, Dtype::f32, false, bytes);
  };
  CHECK(largest(need(1) - 1.0) == 0);
  CHECK(largest(need(1)) == 1);
  CHECK(largest(need(7)) == 7);
  CHECK(largest(need(8) - 1.0) == 7);
  CHECK(largest(need(40)) == 40);
  CHECK(largest(need(47)) == 40);  // above 16 a multiple of 8
}

}  // namespace bench::training
