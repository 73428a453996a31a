// Training by 2, 3 or 4 ranks over MPI, against one rank on the same batches.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/mpi/mpi_test.h"
#include "tests/support/catch.h"
#include "tests/training/llm_trainer.h"
#include "training/parallel/data_parallel.h"

namespace bench::training {
namespace {

constexpr int kSteps = 8;

struct Curve {
  std::vector<double> losses = {};
  std::uint64_t parameters = 0;
  std::string differing = {};
  bool overlapped = false;
};

/// 48 sequences a step, whoever shares them.
Curve train_together(Group& group, int lanes, const DataParallelOptions& options,
                     Dtype dtype = Dtype::f32) {
  LlmTrainerOptions how;
  how.batch = 48;
  how.lanes = lanes;
  how.steps = 100;
  how.rank = group.rank();
  how.ranks = group.size();
  how.dtype = dtype;
  LlmTrainer trainer(how);
  DataParallel parallel(trainer.replica(), group, options);
  Curve curve;
  for (int step = 0; step < kSteps; ++step)
    curve.losses.push_back(
        parallel.step(trainer.fill(step, group.rank()), trainer.rate(step), 1.0).loss);
  curve.parameters = parallel.parameter_hash();
  curve.differing = find_replica_difference(group, tensor_hashes(trainer.replica()));
  curve.overlapped = parallel.overlaps();
  return curve;
}

DataParallelOptions many_buckets(bool shard, SumOrder order, bool overlap = true) {
  return {65536, shard, overlap, order};
}

}  // namespace

TEST_CASE("ranks over MPI train as one rank with a lane for each does, to the bit", "[training]") {
  Group& group = mpi_test_group();
  const Curve one = train_together(*make_self_group(), group.size(), {});
  for (const bool shard : {false, true})
    for (const bool overlap : {false, true}) {
      const Curve many = train_together(group, 1, many_buckets(shard, SumOrder::ranks, overlap));
      CHECK(many.overlapped == overlap);
      CHECK(many.differing.empty());
      CHECK(many.losses == one.losses);
      CHECK(many.parameters == one.parameters);
    }
}

TEST_CASE("ranks over MPI train in 16 bits, which MPI moves and cannot sum", "[training]") {
  Group& group = mpi_test_group();
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16}) {
    const Curve one = train_together(*make_self_group(), 1, {}, dtype);
    const Curve many = train_together(group, 1, many_buckets(false, SumOrder::ranks), dtype);
    const Curve shards = train_together(group, 1, many_buckets(true, SumOrder::ranks), dtype);
    CHECK(many.differing.empty());
    CHECK(shards.parameters == many.parameters);
    for (std::size_t i = 0; i < one.losses.size(); ++i)
      CHECK(many.losses[i] == Approx(one.losses[i]).epsilon(5e-3));
    CHECK_THROWS_WITH(
        train_together(group, 1, many_buckets(false, SumOrder::library), dtype),
        Catch::Contains("cannot be exchanged by all_reduce: MPI cannot sum this type"));
  }
}

TEST_CASE("MPI's own sums give the same losses but for rounding, and equal copies", "[training]") {
  Group& group = mpi_test_group();
  const Curve one = train_together(*make_self_group(), 1, {});
  for (const bool shard : {false, true}) {
    const Curve many = train_together(group, 2, many_buckets(shard, SumOrder::library));
    CHECK(many.differing.empty());
    for (std::size_t i = 0; i < one.losses.size(); ++i)
      CHECK(many.losses[i] == Approx(one.losses[i]).epsilon(1e-5));
  }
}

TEST_CASE("a model divided over ranks of MPI has the loss and gradient of the whole",
          "[training]") {
  Group& group = mpi_test_group();
  if (group.size() % 2 != 0) return;
  const Json splits[] = {
      {{"tp", 2}, {"pp", group.size() / 2}},
      {{"pp", 2}, {"pipeline_schedule", "zero_bubble"}},
      {{"pp", 2}, {"vp", 2}, {"preset", "deep"}},  // both ways between two stages
      {{"workload", "moe"}, {"ep", 2}}};
  for (Json params : splits) {
    params.update({{"steps", 4}, {"lanes", 1}});
    INFO(params);
    const MpiRun run = run_briefly(group, "training", params);
    CHECK(run.outcome.status == Status::ok);
    if (group.rank() != 0) continue;
    std::vector<std::string> held;
    for (const Facts& facts : run.facts)
      if (facts.topic == "training")
        for (const Json& check : facts.facts.at("checks"))
          if (check.at("held") == true) held.push_back(check.at("check"));
    CHECK(std::ranges::count(held, "divided_model") == 1);
    // Whether ranks have some parameters that are the same.
    const bool alike = group.size() > 2 || params.contains("tp") || params.contains("ep");
    CHECK(std::ranges::count(held, "replicas_agree") == (alike ? 1 : 0));
  }
}

TEST_CASE("splits that a model cannot have are skipped with what to do", "[training]") {
  Group& group = mpi_test_group();
  const std::pair<Json, const char*> splits[] = {
      {{{"vp", 2}}, "set pp"},
      {{{"pipeline_schedule", "zero_bubble"}}, "set pp"},
      {{{"pp", 2}, {"vp", 2}, {"pipeline_schedule", "gpipe"}}, "use 1f1b, or remove vp"},
      {{{"pp", 2}, {"zero", 2}, {"pipeline_schedule", "zero_bubble"}}, "use zero 1"},
      {{{"ep", 2}}, "llm has no experts"},
      {{{"workload", "moe"}, {"tp", 2}}, "divided by ep only"},
      {{{"workload", "moe"}, {"ep", 2}, {"zero", 1}}, "remove zero and shard_optimizer"}};
  for (auto [params, words] : splits) {
    params.update({{"steps", 2}, {"lanes", 1}});
    const MpiRun run = run_briefly(group, "training", params);
    CHECK(run.outcome.status == Status::skipped);
    CHECK(run.outcome.reason.find(words) != std::string::npos);
  }
}

}  // namespace bench::training
