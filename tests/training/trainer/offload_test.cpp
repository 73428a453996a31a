// Trainings whose optimizer state is in a file instead of memory.
#include <array>
#include <fstream>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/divided_training.h"
#include "training/trainer/memory_need.h"

namespace bench::training {
namespace {

ShortTraining training_of(Dtype dtype, bool shards) {
  ShortTraining training;
  training.recipe = short_recipe(6, 0.0);
  training.recipe.evaluation_every = 3;
  training.dtype = dtype;
  training.lanes = 2;
  training.parallel.shard_optimizer = shards;
  return training;
}

}  // namespace

TEST_CASE("optimizer state in a file changes no bit of a training, and leaves memory") {
  const TemporaryDirectory folder;
  struct Case {
    Dtype dtype = Dtype::f32;
    int ranks = 1;
    bool shards = false;
  };
  for (const Case& one : {Case{}, Case{Dtype::f64}, Case{Dtype::bf16}, Case{Dtype::f32, 2},
                          Case{Dtype::f32, 2, true}, Case{Dtype::bf16, 4, true}}) {
    INFO(to_string(one.dtype) << ", " << one.ranks << " ranks, sharded: " << one.shards);
    ShortTraining training = training_of(one.dtype, one.shards);
    if (one.ranks > 1) training.lanes = 1;
    const TrainingRun in_memory = train_divided(training, one.ranks);
    training.parallel.offload = folder.path();
    const TrainingRun in_file = train_divided(training, one.ranks);
    check_that_all_held(in_file);
    CHECK(distance(in_memory, in_file) == 0.0);
    CHECK(!in_memory.offload);
    REQUIRE(in_file.offload);
    const double before = bytes_of(in_memory, "optimizer"), now = bytes_of(in_file, "optimizer");
    CHECK(now <= (one.shards ? before : 0.4 * before));  // shards are few blocks here
    const double owners = one.shards ? 1.0 : static_cast<double>(one.ranks);
    CHECK(in_file.offload->bytes >= before * owners);
    CHECK(in_file.offload->moved >= 2.0 * 6.0 * before * owners);
    CHECK(seconds_of(in_file, RunPhase::offload_wait) ==
          Approx(in_file.offload->waited.value).epsilon(1e-9));
  }
}

TEST_CASE("the memory of a training with its optimizer state in a file is known before") {
  const TemporaryDirectory folder;
  ShortTraining training = training_of(Dtype::f32, true);
  training.lanes = 1;
  training.parallel.offload = folder.path();
  const TrainingRun run = train_divided(training, 2);
  TrainerOptions options;
  options.recipe = training.recipe;
  options.lanes = 1;
  for (const MemoryUse& use : memory_need(*make_workload("llm", "tiny", 1), split_batch(options, 2),
                                          Dtype::f32, false, {.exchange = training.parallel})
                                  .uses) {
    INFO(use.label);
    CHECK(bytes_of(run, use.label) == static_cast<double>(use.bytes));
  }
}

TEST_CASE("a training resumes to the bit with its optimizer state in a file, and from a file") {
  const TemporaryDirectory folder;
  ShortTraining training = training_of(Dtype::f32, false);
  training.lanes = 1;
  ShortTraining offloaded = training;
  offloaded.parallel.offload = folder.path() / "state";
  resumed_to_the_bit(offloaded, 2, folder.path() / "a");
  ShortTraining stopped = resumed_to_the_bit(training, 2, folder.path() / "b");
  const TrainingRun without = train_divided(stopped, 2);
  stopped.parallel.offload = offloaded.parallel.offload;
  const TrainingRun with = train_divided(stopped, 2);
  CHECK(distance(without, with) == 0.0);
}

TEST_CASE("all ranks refuse a folder that one of them cannot use") {
  const TemporaryDirectory folder;
  std::ofstream(folder.path() / "file") << "x";
  std::array<std::string, 2> reasons;
  run_ranks(2, [&](Group& group) {
    ShortTraining training = training_of(Dtype::f32, false);
    training.lanes = 1;
    training.parallel.offload = folder.path() / (group.rank() == 1 ? "file" : "state");
    try {
      train_short(training, group);
    } catch (const Error& error) {
      reasons[static_cast<std::size_t>(group.rank())] = error.what();
    }
  });
  CHECK_THAT(reasons[0], Catch::Matchers::Contains((folder.path() / "file").string()));
  CHECK(reasons[0] == reasons[1]);
}

TEST_CASE("divided models, other optimizers and exchanges keep their bits with offloaded state") {
  const TemporaryDirectory folder;
  const auto check_bits = [&](ShortTraining training, int ranks) {
    const TrainingRun in_memory = train_divided(training, ranks);
    training.parallel.offload = folder.path();
    const TrainingRun in_file = train_divided(training, ranks);
    check_that_all_held(in_file);
    CHECK(distance(in_memory, in_file) == 0.0);
    CHECK(in_file.offload->bytes > 0.0);
  };
  ShortTraining one = training_of(Dtype::f32, false);
  one.lanes = 1;
  one.recipe.evaluation_samples = 16;
  for (const auto& [what, split] :
       {std::pair{"zero 3", ModelSplit{.shard_parameters = true}},
        std::pair{"tp", ModelSplit{.tensor = 2}}, std::pair{"pp", ModelSplit{.pipeline = 2}},
        std::pair{"cp", ModelSplit{.context = 2}}}) {
    INFO(what);
    ShortTraining divided = one;
    divided.split = split;
    divided.recipe = for_pipeline(divided.recipe, split, 2);
    check_bits(divided, 2);
  }
  INFO("local, f16, SGD");
  ShortTraining local = one;
  local.parallel.method = {.kind = ExchangeKind::local, .local_steps = 3};
  check_bits(local, 2);
  ShortTraining scaled = training_of(Dtype::f16, false);  // begins with skipped steps
  check_bits(scaled, 1);
  ShortTraining momentum = training_of(Dtype::f32, false);
  momentum.workload = "image";
  momentum.steps = 2;
  momentum.recipe = make_workload("image", "tiny", 1)->recipe();
  check_bits(momentum, 1);
}

TEST_CASE("the expected wait for offloaded state is what transfers take beyond what hides them") {
  const std::vector<PhaseTime> phases{{RunPhase::forward, {6.0}, 0, 0.5},
                                      {RunPhase::optimizer, {2.5}, 0, 0.2},
                                      {RunPhase::offload_wait, {2.0}, 0, 0.2},
                                      {RunPhase::evaluation, {50.0}, 0, 0.1},
                                      {RunPhase::exchange_hidden, {5.0}, 0, {}}};
  Offload offload;
  offload.windows = 12;
  offload.updating = {2.0};  // and 0.5 s of other work of the optimizer
  offload.moving = {7.0};
  offload.hashing = {1.0};
  CHECK(expected_wait(offload, phases).value == Approx(8.0 * 9 / 12 - 2.0));
  offload.moving = {1.0};
  CHECK(expected_wait(offload, phases).value == 0.0);
  offload.moving = {39.0};
  CHECK(expected_wait(offload, phases).value == Approx(40.0 * 9 / 12 - 2.0 + 40.0 * 3 / 12 - 6.5));
  offload.windows = 2;
  offload.moving = {6.5};
  CHECK(expected_wait(offload, phases).value == Approx(1.0));
}

}  // namespace bench::training
