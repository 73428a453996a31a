// Ranks that train together: what must not change the result, and what may.
#include "training/parallel/data_parallel.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "devices/host_clock.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/llm_trainer.h"

namespace bench::training {
namespace {

struct Trained {
  std::vector<double> losses = {}, norms = {};
  std::vector<float> weights = {};
  std::int64_t optimizer_bytes = 0;
  bool overlapped = false;

  bool operator==(const Trained& other) const {
    return losses == other.losses && norms == other.norms && weights == other.weights;
  }
};

struct Ranks {
  int ranks = 1;
  int lanes = 1;
  int micro_batches = 1;
  DataParallelOptions options = {};
  std::uint64_t seed = 1;
};

constexpr int kTrainedSteps = 4;

Trained train_rank(Group& group, const Ranks& how) {
  LlmTrainerOptions options;
  options.lanes = how.lanes;
  options.micro_batches = how.micro_batches;
  options.seed = how.seed;
  options.steps = 100;
  options.rank = group.rank();
  options.ranks = group.size();
  LlmTrainer trainer(options);
  DataParallel parallel(trainer.replica(), group, how.options);
  Trained trained;
  for (int step = 0; step < kTrainedSteps; ++step) {
    const StepOutcome out =
        parallel.step(trainer.fill(step, group.rank()), trainer.rate(step), 1.0);
    trained.losses.push_back(out.loss);
    trained.norms.push_back(out.gradient_norm);
  }
  const View all = trainer.replica().weights().all();
  trained.weights.assign(all.as<float>(), all.as<float>() + all.elements());
  trained.optimizer_bytes = trainer.replica().optimizer_bytes();
  trained.overlapped = parallel.overlaps();
  return trained;
}

/// By rank.
std::vector<Trained> train(const Ranks& how) {
  std::vector<Trained> all(static_cast<std::size_t>(how.ranks));
  run_ranks(how.ranks, [&](Group& group) {
    all[static_cast<std::size_t>(group.rank())] = train_rank(group, how);
  });
  return all;
}

/// Of all ranks, which must be equal.
Trained one_of(const Ranks& how) {
  const std::vector<Trained> all = train(how);
  for (const Trained& other : all) CHECK(other == all[0]);
  return all[0];
}

double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]) / b[i]);
  return most;
}

Ranks with(int ranks, int lanes, std::int64_t bucket_bytes, bool shard = false,
           SumOrder order = SumOrder::ranks, bool overlap = true) {
  Ranks how;
  how.ranks = ranks;
  how.lanes = lanes;
  how.options = {bucket_bytes, shard, overlap, order};
  return how;
}

constexpr std::int64_t kOneBlock = 65536, kAll = 25'000'000;

}  // namespace

TEST_CASE("N ranks of one lane train like one rank of N lanes bit for bit") {
  for (const int n : {2, 4}) {
    const Trained lanes = one_of(with(1, n, kAll));
    for (const std::int64_t bytes : {kOneBlock, kAll}) {
      const Trained ranks = one_of(with(n, 1, bytes));
      CHECK(ranks.overlapped);
      CHECK(ranks == lanes);
    }
  }
}

TEST_CASE("ranks of several lanes give the losses of one rank up to rounding") {
  const Trained one = one_of(with(1, 1, kAll));
  for (const int lanes : {1, 2}) {
    const Trained two = one_of(with(2, lanes, kOneBlock));
    CHECK(farthest(two.losses, one.losses) < 1e-5);
    CHECK(farthest(two.norms, one.norms) < 1e-4);
    CHECK_FALSE(two.weights == one.weights);
  }
}

TEST_CASE("overlap, bucket size and number of micro-batches do not change a bit") {
  const Trained together = one_of(with(2, 2, kAll));
  CHECK(one_of(with(2, 2, kAll, false, SumOrder::ranks, false)) == together);
  CHECK(one_of(with(2, 2, kOneBlock)) == together);
  CHECK(one_of(with(2, 2, 1)) == together);
  Ranks micro = with(2, 2, kOneBlock);
  micro.micro_batches = 4;
  CHECK(one_of(micro).weights == together.weights);
  micro.seed = 2;
  CHECK_FALSE(one_of(micro).weights == together.weights);
}

TEST_CASE("a sharded optimizer changes no bit and holds a part of the state") {
  for (const int ranks : {2, 4}) {
    const Trained whole = one_of(with(ranks, 1, kOneBlock));
    const std::vector<Trained> shards = train(with(ranks, 1, kOneBlock, true));
    std::int64_t bytes = 0;
    for (const Trained& shard : shards) {
      CHECK(shard == whole);
      CHECK(shard.optimizer_bytes < whole.optimizer_bytes * 2 / ranks);
      bytes += shard.optimizer_bytes;
    }
    CHECK(bytes == whole.optimizer_bytes);
  }
}

TEST_CASE(
    "the library's sums differ from those in rank order by rounding, and less for two ranks") {
  const Trained four = one_of(with(4, 1, kOneBlock));
  const Trained library = one_of(with(4, 1, kOneBlock, false, SumOrder::library));
  CHECK_FALSE(library.weights == four.weights);
  CHECK(farthest(library.losses, four.losses) < 1e-5);
  const Trained sharded = one_of(with(4, 1, kOneBlock, true, SumOrder::library));
  CHECK(farthest(sharded.losses, four.losses) < 1e-5);
  CHECK(one_of(with(2, 1, kOneBlock, true, SumOrder::library)) == one_of(with(2, 1, kOneBlock)));
}

TEST_CASE("if one rank's lane throws, all ranks throw and none hangs") {
  for (const bool overlap : {true, false}) {
    std::vector<std::string> texts(2);
    run_ranks(2, [&](Group& group) {
      LlmTrainerOptions options;
      options.steps = 100;
      options.rank = group.rank();
      options.ranks = 2;
      LlmTrainer trainer(options);
      DataParallelOptions how;
      how.overlap = overlap;
      DataParallel parallel(trainer.replica(), group, how);
      const Replica::Fill good = trainer.fill(0, group.rank());
      const auto fill = [&](const Lane& lane, int number) {
        good(lane, number);
        if (group.rank() == 1 && number == 1)
          lane.view(trainer.model().tokens).as<std::int32_t>()[3] = 64;
      };
      try {
        parallel.step(fill, 1e-3);
      } catch (const Error& error) {
        texts[static_cast<std::size_t>(group.rank())] = error.what();
      }
    });
    CHECK_THAT(texts[0], Catch::Contains("rank 1 failed in step 0"));
    CHECK_THAT(texts[1], Catch::Contains("ID 64 in row 3"));
  }
}

TEST_CASE("phases of a step are measured separately and add up to at most the step") {
  std::vector<StepOutcome> outs(2);
  run_ranks(2, [&](Group& group) {
    LlmTrainerOptions options;
    options.steps = 100;
    options.ranks = 2;
    options.rank = group.rank();
    LlmTrainer trainer(options);
    DataParallel parallel(trainer.replica(), group, {kOneBlock});
    outs[static_cast<std::size_t>(group.rank())] =
        parallel.step(trainer.fill(0, group.rank()), 1e-3);
  });
  for (const StepOutcome& out : outs) {
    for (const Seconds phase : {out.data, out.forward, out.backward, out.optimizer})
      CHECK(phase.value > 0.0);
    CHECK(out.exchange_hidden.value >= 0.0);
    CHECK(out.straggler_spread.value >= 0.0);
    const Seconds sum =
        out.data + out.forward + out.backward + out.exchange_exposed + out.optimizer;
    CHECK(sum <= out.total);
  }
  CHECK(outs[0].straggler_spread == outs[1].straggler_spread);
}

TEST_CASE("waiting for other ranks to agree on the loss is part of the exposed exchange") {
  static constexpr Seconds kLate{2e-3};
  class SlowGroup final : public Group {
   public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void barrier() override {}
    void broadcast(std::span<std::byte>, int) override {}
    void max(std::span<double>) override {}
    void sum(std::span<double>) override {
      const Seconds begin = steady_now();
      while (steady_now() - begin < kLate) continue;
    }
    std::vector<std::string> gather(const std::string& text) override { return {text}; }
    std::string library() const override { return "a late rank"; }
  } group;
  LlmTrainer trainer({});
  DataParallel parallel(trainer.replica(), group);
  const StepOutcome out = parallel.step(trainer.fill(0, 0), trainer.rate(0), 1.0);
  CHECK(out.exchange_exposed >= kLate);
}

TEST_CASE("several ranks without collectives are refused with the reason") {
  class NoCollectives final : public Group {
   public:
    int rank() const override { return 0; }
    int size() const override { return 2; }
    void barrier() override {}
    void broadcast(std::span<std::byte>, int) override {}
    void max(std::span<double>) override {}
    void sum(std::span<double>) override {}
    std::vector<std::string> gather(const std::string&) override { return {}; }
    std::string library() const override { return "TCP"; }
  } group;
  LlmTrainer trainer({});
  CHECK_THROWS_WITH(DataParallel(trainer.replica(), group), Catch::Contains("joined by TCP"));
}

}  // namespace bench::training
