// Ranks that train alone for a period, and then average.
#include "training/parallel/local_sgd.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/group_with.h"
#include "tests/support/thread_group.h"
#include "tests/training/llm_trainer.h"
#include "training/host/host_kernels.h"
#include "training/parallel/data_parallel.h"

namespace bench::training {
namespace {

DataParallelOptions local_steps(std::int64_t steps, double rate, double momentum) {
  DataParallelOptions options;
  options.method = {.kind = ExchangeKind::local,
                    .local_steps = steps,
                    .outer_rate = rate,
                    .outer_momentum = momentum};
  return options;
}

std::vector<float> trained_parameters(const Replica& replica) {
  const View all = replica.weights().all();
  return {all.as<float>(), all.as<float>() + all.elements()};
}

LlmTrainerOptions half_a_batch(const Group& group) {
  return {.lanes = 1, .steps = 100, .rank = group.rank(), .ranks = group.size()};
}

/// Steps of plain SGD on two ranks; the parameters of each.
std::vector<std::vector<float>> train_plainly(const DataParallelOptions& options, int steps) {
  std::vector<std::vector<float>> trained(2);
  run_ranks(2, [&](Group& group) {
    LlmTrainer trainer(half_a_batch(group));
    Replica replica(trainer.plan(), trainer.model().losses, [](Dtype d) { return host_kernels(d); },
                    make_sgd({0.0, 0.0}), {1, 1, 1});
    DataParallel parallel(replica, group, options);
    for (int step = 0; step < steps; ++step) {
      StepOutcome out = parallel.step(trainer.fill(step, group.rank()), 0.1);
      if (parallel.averages_after(step + 1, steps)) parallel.average_parameters(out);
    }
    trained[static_cast<std::size_t>(group.rank())] = trained_parameters(replica);
  });
  return trained;
}

double relative_distance(const std::vector<float>& a, const std::vector<float>& b,
                         const std::vector<float>& from) {
  double difference = 0.0, length = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2.0);
    length += std::pow(static_cast<double>(b[i]) - static_cast<double>(from[i]), 2.0);
  }
  return std::sqrt(difference / length);
}

/// Rank 1 sends zeros.
class SilentRank final : public PassingCollectives {
 public:
  explicit SilentRank(Group& group) : PassingCollectives(group), silent_(group.rank() == 1) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    const std::vector<std::byte> zeros(count * 2 * size_of(dtype));
    const bool lost = silent_ && op == CollectiveOp::all_to_all;
    PassingCollectives::run(op, lost ? zeros.data() : send, recv, count, dtype);
  }

 private:
  bool silent_;
};

}  // namespace

TEST_CASE("averages after each step of plain SGD are ordinary data parallelism, to rounding") {
  const auto ordinary = train_plainly({}, 4);
  const auto local = train_plainly(local_steps(1, 1.0, 0.0), 4);
  const auto before = train_plainly({}, 0);
  CHECK(local[0] == local[1]);
  CHECK(relative_distance(local[0], ordinary[0], before[0]) < 1e-4);
  const auto apart = train_plainly(local_steps(4, 1.0, 0.0), 4);
  CHECK(relative_distance(apart[0], ordinary[0], before[0]) > 5e-4);
}

TEST_CASE("two periods make the Nesterov steps of DiLoCo, and ranks are equal after each") {
  constexpr double kRate = 0.7, kMomentum = 0.9;
  std::vector<std::string> faults(2);
  run_ranks(2, [&](Group& group) {
    LlmTrainer trainer(half_a_batch(group));
    DataParallel parallel(trainer.replica(), group, local_steps(2, kRate, kMomentum));
    std::string& fault = faults[static_cast<std::size_t>(group.rank())];
    std::vector<float> common = trained_parameters(trainer.replica());
    std::vector<double> momentum(common.size());
    for (int step = 0; step < 4; ++step) {
      StepOutcome out = parallel.step(trainer.fill(step, group.rank()), trainer.rate(step), 1.0);
      const bool averages = parallel.averages_after(step + 1, 100);
      if (averages != (step % 2 == 1)) fault += "averaged at the wrong step; ";
      const bool differ = !find_replica_difference(group, tensor_hashes(trainer.replica())).empty();
      if (!differ) fault += "ranks did not train alone; ";
      if (!averages) continue;
      const std::vector<float> own = trained_parameters(trainer.replica());
      std::vector<double> mean(own.begin(), own.end());
      group.sum(mean);
      parallel.average_parameters(out);
      std::vector<float> expected = common;
      for (std::size_t i = 0; i < mean.size(); ++i) {
        const double moved = static_cast<double>(common[i]) - mean[i] / 2.0;
        momentum[i] = kMomentum * momentum[i] + moved;
        expected[i] = static_cast<float>(static_cast<double>(common[i]) -
                                         kRate * (moved + kMomentum * momentum[i]));
      }
      const std::vector<float> next = trained_parameters(trainer.replica());
      if (!(relative_distance(next, expected, common) < 1e-4)) fault += "another update; ";
      fault += find_replica_difference(group, tensor_hashes(trainer.replica()));
      common = next;
    }
  });
  CHECK(faults == std::vector<std::string>(2));
}

TEST_CASE("a rank that is left out of the average is found, and comparing changes nothing") {
  for (const bool silent : {false, true}) {
    std::vector<double> distances(2);
    std::vector<std::uint64_t> before(2), after(2);
    run_ranks(2, [&](Group& threads) {
      SilentRank collectives(threads);
      GroupWith changed(threads, collectives);
      Group& group = silent ? static_cast<Group&>(changed) : threads;
      LlmTrainer trainer(half_a_batch(group));
      DataParallel parallel(trainer.replica(), group, local_steps(8, 0.7, 0.9));
      const auto rank = static_cast<std::size_t>(group.rank());
      before[rank] = parallel.parameter_hash();
      distances[rank] = parallel.local()->compare(trainer.fill(0, group.rank()));
      after[rank] = parallel.parameter_hash();
    });
    INFO("distance " << distances[0]);
    CHECK((distances[0] > 1e-2) == silent);
    CHECK((distances[0] < GradientAgreement::kTolerance) == !silent);
    CHECK(distances[0] == distances[1]);
    CHECK(before == after);
  }
}

TEST_CASE("an average by a small outer rate is judged as one by a large rate") {
  for (const double rate : {1e-6, 1e-3, 10.0})
    for (const bool silent : {false, true}) {
      std::vector<double> distances(2);
      run_ranks(2, [&](Group& threads) {
        SilentRank collectives(threads);
        GroupWith changed(threads, collectives);
        Group& group = silent ? static_cast<Group&>(changed) : threads;
        LlmTrainer trainer(half_a_batch(group));
        DataParallel parallel(trainer.replica(), group, local_steps(8, rate, 0.0));
        distances[static_cast<std::size_t>(group.rank())] =
            parallel.local()->compare(trainer.fill(0, group.rank()));
      });
      INFO("rate " << rate << ", distance " << distances[0]);
      CHECK((distances[0] > 1e-2) == silent);
      CHECK((distances[0] < GradientAgreement::kTolerance) == !silent);
    }
}

TEST_CASE("the last step is averaged though its period is not over") {
  std::vector<int> averaged(2);
  run_ranks(2, [&](Group& group) {
    LlmTrainer trainer(half_a_batch(group));
    const DataParallel local(trainer.replica(), group, local_steps(8, 0.7, 0.9));
    for (int steps = 1; steps <= 12; ++steps)
      if (local.averages_after(steps, 12))
        averaged[static_cast<std::size_t>(group.rank())] += steps;
  });
  CHECK(averaged == std::vector<int>(2, 8 + 12));
}

}  // namespace bench::training
