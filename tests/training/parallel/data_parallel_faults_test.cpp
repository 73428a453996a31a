// Injected faults of training on several ranks and the checks that find them. The target does not:
// most of these converge (docs/training.md, "Which check catches which fault").
#include <cstring>
#include <limits>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/group_with.h"
#include "tests/support/thread_group.h"
#include "tests/training/llm_trainer.h"
#include "training/host/host_kernels.h"
#include "training/parallel/data_parallel.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// Rank 1 sends zeros instead of a share of each bucket: from the whole to none.
class LosingCollectives final : public PassingCollectives {
 public:
  LosingCollectives(Group& group, double share)
      : PassingCollectives(group), group_(group), share_(share) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    std::vector<std::byte> sent(count * 2 * size_of(dtype));
    if (op == CollectiveOp::all_to_all && group_.rank() == 1) {
      std::memcpy(sent.data(), send, sent.size());
      const auto lost = static_cast<std::size_t>(share_ * static_cast<double>(sent.size()));
      std::memset(sent.data(), 0, lost);
      send = sent.data();
    }
    PassingCollectives::run(op, send, recv, count, dtype);
  }

 private:
  Group& group_;
  double share_;
};

LlmTrainerOptions half_of_the_batch(int rank) {
  LlmTrainerOptions options;
  options.steps = 100;
  options.ranks = 2;
  options.rank = rank;
  return options;
}

/// The agreement of two ranks' gradient where rank 1 loses a share of its own.
double distance_when_losing(double share, const DataParallelOptions& options) {
  std::vector<double> distances(2);
  run_ranks(2, [&](Group& group) {
    LosingCollectives collectives(group, share);
    GroupWith losing(group, collectives);
    LlmTrainer trainer(half_of_the_batch(group.rank()));
    DataParallel parallel(trainer.replica(), losing, options);
    distances[static_cast<std::size_t>(group.rank())] =
        parallel.compare_gradient([&](int rank) { return trainer.fill(0, rank); }).distance;
  });
  CHECK(distances[0] == distances[1]);
  return distances[0];
}

DataParallelOptions in_small_buckets(bool shard = false) {
  DataParallelOptions options;
  options.bucket_bytes = 65536;
  options.shard_optimizer = shard;
  return options;
}

}  // namespace

TEST_CASE("a gradient lost in whole or half on one of two ranks is found by comparison") {
  for (const bool shard : {false, true}) {
    CHECK(distance_when_losing(0.0, in_small_buckets(shard)) == 0.0);
    CHECK(distance_when_losing(1.0, in_small_buckets(shard)) > 0.1);
    CHECK(distance_when_losing(0.5, in_small_buckets(shard)) > 0.1);
    CHECK(distance_when_losing(0.01, in_small_buckets(shard)) > GradientAgreement::kTolerance);
  }
}

TEST_CASE("a bucket exchanged before its gradients are final is found by comparison") {
  std::vector<double> distances(2);
  run_ranks(2, [&](Group& group) {
    LlmTrainer trainer(half_of_the_batch(group.rank()));
    Plan hasty = trainer.plan();
    for (Plan::FinalGradient& final : hasty.gradient_order) final.action = hasty.backward_begin;
    Replica replica(hasty, trainer.model().losses, [](Dtype d) { return host_kernels(d); },
                    make_adamw({}), {2, 1, 1});
    DataParallel parallel(replica, group, in_small_buckets());
    const auto fill_of = [&](int rank) { return trainer.fill(0, rank); };
    parallel.step(fill_of(group.rank()), 1e-3);  // whose gradients are there when the next are due
    distances[static_cast<std::size_t>(group.rank())] = parallel.compare_gradient(fill_of).distance;
  });
  CHECK(distances[0] > 1e-3);
}

TEST_CASE("NaN gradients do not agree even if both sides are NaN") {
  std::vector<double> distances(2);
  run_ranks(2, [&](Group& group) {
    LlmTrainer trainer(half_of_the_batch(group.rank()));
    const Graph& graph = *trainer.model().graph;
    for (std::size_t id = 0; id < graph.tensors().size(); ++id)
      if (graph.tensors()[id].name == "layer1.wo")
        trainer.replica().weights().view(trainer.plan(), static_cast<int>(id)).as<float>()[0] =
            std::numeric_limits<float>::quiet_NaN();
    DataParallel parallel(trainer.replica(), group, in_small_buckets());
    distances[static_cast<std::size_t>(group.rank())] =
        parallel.compare_gradient([&](int rank) { return trainer.fill(0, rank); }).distance;
  });
  CHECK(distances[0] > GradientAgreement::kTolerance);
  CHECK(distances[1] > GradientAgreement::kTolerance);
}

TEST_CASE("comparing gradients does not change the training") {
  std::vector<std::uint64_t> hashes(4);
  run_ranks(2, [&](Group& group) {
    for (const bool compares : {false, true}) {
      LlmTrainer trainer(half_of_the_batch(group.rank()));
      DataParallel parallel(trainer.replica(), group, in_small_buckets());
      for (int step = 0; step < 2; ++step) {
        if (compares) parallel.compare_gradient([&](int rank) { return trainer.fill(9, rank); });
        parallel.step(trainer.fill(step, group.rank()), trainer.rate(step), 1.0);
      }
      hashes[static_cast<std::size_t>(2 * group.rank() + compares)] = parallel.parameter_hash();
    }
  });
  CHECK(hashes == std::vector<std::uint64_t>(4, hashes[0]));
}

TEST_CASE("one flipped bit in one rank's copy is found by hash, naming rank and tensor") {
  std::vector<std::string> texts(6);
  run_ranks(3, [&](Group& group) {
    LlmTrainer trainer({});
    const auto at = static_cast<std::size_t>(group.rank());
    texts[at] = find_replica_difference(group, tensor_hashes(trainer.replica()));
    const Graph& graph = *trainer.model().graph;
    for (std::size_t id = 0; id < graph.tensors().size() && group.rank() == 2; ++id)
      if (graph.tensors()[id].name == "layer1.wo")
        trainer.replica()
            .weights()
            .view(trainer.plan(), static_cast<int>(id))
            .as<std::uint8_t>()[77] ^= 1;
    texts[3 + at] = find_replica_difference(group, tensor_hashes(trainer.replica()));
  });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(texts[rank].empty());
    CHECK_THAT(texts[3 + rank], Contains("rank 2 and rank 0 differ in 'layer1.wo'"));
  }
}

TEST_CASE("a rank with other parameters is found by hash after any number of steps") {
  std::vector<std::string> texts(2);
  run_ranks(2, [&](Group& group) {
    LlmTrainer trainer(half_of_the_batch(group.rank()));
    DataParallel parallel(trainer.replica(), group, in_small_buckets());
    if (group.rank() == 1) trainer.replica().weights().all().as<float>()[0] += 1e-6f;
    for (int step = 0; step < 3; ++step)
      parallel.step(trainer.fill(step, group.rank()), trainer.rate(step), 1.0);
    texts[static_cast<std::size_t>(group.rank())] =
        find_replica_difference(group, tensor_hashes(trainer.replica()));
  });
  CHECK_THAT(texts[0], Contains("rank 1 and rank 0 differ in"));
  CHECK(texts[0] == texts[1]);
}

}  // namespace bench::training
