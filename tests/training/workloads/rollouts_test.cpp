// Groups of answers, their advantages, and what is compared with the forward pass.
#include "training/workloads/rollouts.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "training/host/host_kernels.h"
#include "training/workloads/grpo.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

KernelSet kernels_of(Dtype dtype) { return host_kernels(dtype); }

/// grpo tiny with its first weights, which answer by chance.
struct PlayedPolicy {
  /// `stale`: a copy of the first weights generates, whatever the replica learns.
  explicit PlayedPolicy(int lanes, bool stale = false, std::uint64_t seed = 1,
                        Rollouts::Rewards rewards = Rollouts::Rewards::random)
      : workload(make_grpo_workload("tiny", seed)),
        rollouts(*workload->rollouts()),
        model(workload->model(2, Dtype::f32, false)),
        plan(make_plan(*model.graph)),
        replica(plan, model.losses, kernels_of, workload->optimizer(), {lanes, 4 / lanes}),
        first_weights(plan, 1),
        evaluation(make_plan(*model.graph, false)),
        judge(evaluation, replica.weights(), kernels_of) {
    for (const Weights* weights : {&replica.weights(), &std::as_const(first_weights)})
      for (const int id : model.graph->parameters())
        if (model.graph->tensor(id).name == "head")  // starts at zero
          fill_initial(Initial::normal(0.3), 1, "head", 0, weights->view(plan, id));
    rollouts.join(replica, stale ? first_weights : replica.weights(), model, 2, kernels_of,
                  rewards);
  }

  void train_step(std::uint64_t first) {
    replica.step(
        [&](const Lane& lane, int number) {
          workload->read(Split::train, first + 2 * static_cast<std::uint64_t>(number), model, lane);
        },
        1e-3);
  }

  std::unique_ptr<Workload> workload;
  Rollouts& rollouts;
  Model model;
  Plan plan;
  Replica replica;
  Weights first_weights;
  Plan evaluation;
  Lane judge;
};

std::vector<float> all_of(const Rollouts& rollouts, std::uint64_t first, std::uint64_t count) {
  std::vector<float> all;
  for (std::uint64_t sample = first; sample < first + count; ++sample) {
    const RolloutGroup group = rollouts.group(sample);
    all.insert(all.end(), group.tokens.begin(), group.tokens.end());
    all.insert(all.end(), group.sampled.begin(), group.sampled.end());
    all.insert(all.end(), group.reference.begin(), group.reference.end());
    all.insert(all.end(), group.advantages.begin(), group.advantages.end());
  }
  return all;
}

}  // namespace

TEST_CASE("a group's advantages have a mean of zero and a deviation of one, or are all zero") {
  PlayedPolicy policy(2);
  policy.rollouts.play(16, 8);
  int mixed = 0;
  for (std::uint64_t sample = 16; sample < 24; ++sample) {
    const RolloutGroup group = policy.rollouts.group(sample);
    REQUIRE(group.advantages.size() == 8);
    double sum = 0.0, squares = 0.0;
    for (const float one : group.advantages) {
      sum += static_cast<double>(one);
      squares += static_cast<double>(one) * static_cast<double>(one);
    }
    CHECK(sum == Approx(0.0).margin(1e-5));
    if (squares > 0.0) CHECK(squares / 8.0 == Approx(1.0).epsilon(1e-4));
    mixed += squares > 0.0;
  }
  CHECK(mixed >= 6);  // half of all rewards are 1
  CHECK(policy.rollouts.sums().answers == 64.0);
  CHECK(policy.rollouts.sums().rewards > 16.0);
}

TEST_CASE("rollouts are the same on any number of lanes, and others for another seed") {
  PlayedPolicy one(1), two(2), other(2, false, 2);
  for (PlayedPolicy* policy : {&one, &two, &other}) policy->rollouts.play(0, 8);
  CHECK(all_of(one.rollouts, 0, 8) == all_of(two.rollouts, 0, 8));
  CHECK(all_of(one.rollouts, 0, 8) != all_of(other.rollouts, 0, 8));
  two.rollouts.play(4, 4);  // a part of them, by itself
  CHECK(all_of(one.rollouts, 4, 4) == all_of(two.rollouts, 4, 4));
  CHECK_THROWS_WITH(two.rollouts.group(3), Contains("sample 3 was not played"));
}

TEST_CASE("before the first update the policy is its reference") {
  PlayedPolicy policy(2);
  policy.rollouts.play(0, 8);
  const RolloutSums& sums = policy.rollouts.sums();
  CHECK(sums.tokens == 8 * 8 * 6);
  CHECK(sums.divergence / sums.tokens == Approx(0.0).margin(1e-5));
  policy.rollouts.compare(policy.judge);
  CHECK(policy.rollouts.mismatch().empty());
}

TEST_CASE("answers by the weights before the last update are found") {
  for (const bool stale : {false, true}) {
    PlayedPolicy policy(2, stale);
    policy.rollouts.play(0, 8);
    policy.rollouts.compare(policy.judge);
    CHECK(policy.rollouts.mismatch().empty());
    policy.train_step(0);
    policy.rollouts.play(8, 8);
    policy.rollouts.compare(policy.judge);
    CHECK(policy.rollouts.comparisons() == 2);
    CHECK(policy.rollouts.mismatch().empty() != stale);
    if (stale)
      CHECK_THAT(policy.rollouts.mismatch(),
                 Contains("samples 10 to 11: log-probabilities of generated tokens differ"));
  }
}

TEST_CASE("the verifier rewards the right answer alone, and its answer has the advantage") {
  // Strings of two of 80 symbols: by chance a few of all answers are right.
  GrpoSetting setting = grpo_setting("tiny");
  setting.programs = {.symbols = 80, .length = 2, .noise = 0.5};
  setting.shape.vocabulary = Programs(setting.programs).vocabulary();
  setting.shape.sequence = setting.programs.tokens() - 1;
  setting.rollouts.generations = 64;
  const auto workload = make_grpo_workload_from("tiny", setting, 1);
  const Model model = workload->model(2, Dtype::f32, false);
  const Plan plan = make_plan(*model.graph);
  Replica replica(plan, model.losses, kernels_of, workload->optimizer(), {2, 16});
  Rollouts& rollouts = *workload->rollouts();
  rollouts.join(replica, replica.weights(), model, 2, kernels_of);
  rollouts.play(0, 512);
  const Programs programs(setting.programs);
  int passed = 0;
  for (std::uint64_t sample = 0; sample < 512; ++sample) {
    std::vector<std::int32_t> right(2);
    programs.right_answer(Split::train, sample, right);
    const RolloutGroup group = rollouts.group(sample);
    for (std::size_t i = 0; i < 64; ++i) {
      const auto answer = group.tokens.subspan(i * 6 + 4, 2);
      const bool is_right = std::ranges::equal(answer, right);
      passed += is_right;
      CHECK((group.advantages[i] > 0.0F) == is_right);
    }
  }
  CHECK(passed > 0);
  CHECK(rollouts.sums().rewards == passed);
}

TEST_CASE("ranks share their answers") {
  std::vector<std::vector<float>> of_rank(2), read_by(2);
  run_ranks(2, [&](Group& group) {
    PlayedPolicy policy(1);
    const std::uint64_t first = 8 * static_cast<std::uint64_t>(group.rank());
    policy.rollouts.share(first, 8, group);
    policy.rollouts.use(group.rank());
    of_rank[static_cast<std::size_t>(group.rank())] = all_of(policy.rollouts, first, 8);
    policy.rollouts.use(0);
    read_by[static_cast<std::size_t>(group.rank())] = all_of(policy.rollouts, 0, 8);
    policy.rollouts.use(1);
    const std::vector<float> second = all_of(policy.rollouts, 8, 8);
    auto& all = read_by[static_cast<std::size_t>(group.rank())];
    all.insert(all.end(), second.begin(), second.end());
  });
  CHECK(read_by[0] == read_by[1]);
  std::vector<float> both = of_rank[0];
  both.insert(both.end(), of_rank[1].begin(), of_rank[1].end());
  CHECK(read_by[0] == both);
  CHECK(of_rank[0] != of_rank[1]);
}

TEST_CASE("rollouts take the memory that their plan says") {
  PlayedPolicy policy(2);
  CHECK(policy.rollouts.memory_bytes() == policy.rollouts.memory_bytes(policy.evaluation, 2, 2));
  CHECK(policy.rollouts.memory_bytes() > 1e6);
}

}  // namespace bench::training
