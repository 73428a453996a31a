// Groups of answers, their advantages, and what is compared with the forward pass.
#include "training/workloads/rollouts.h"

#include <cmath>
#include <memory>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/host/host_kernels.h"
#include "training/workloads/grpo.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

KernelSet kernels_of(Dtype dtype) { return host_kernels(dtype); }

/// grpo tiny with its first weights, which answer by chance.
struct PlayedPolicy {
  explicit PlayedPolicy(int lanes, bool stale = false, std::uint64_t seed = 1)
      : workload(make_grpo_workload("tiny", seed)),
        rollouts(*workload->rollouts()),
        model(workload->model(2, Dtype::f32, false)),
        plan(make_plan(*model.graph)),
        replica(plan, model.losses, kernels_of, workload->optimizer(), {lanes, 4 / lanes}),
        others(plan, 77) {
    // A head that is not zero.
    for (const int id : model.graph->parameters())
      if (model.graph->tensor(id).name == "head")
        for (const Weights* weights : {&replica.weights(), &static_cast<const Weights&>(others)})
          fill_initial(Initial::normal(0.3), stale && weights == &others ? 2 : 1, "head", 0,
                       weights->view(plan, id));
    rollouts.join(replica, stale ? others : replica.weights(), model, 2, kernels_of,
                  Rollouts::Rewards::chance);
  }

  std::unique_ptr<Workload> workload;
  Rollouts& rollouts;
  Model model;
  Plan plan;
  Replica replica;
  Weights others;
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
  CHECK(policy.rollouts.mismatch().empty());
}

TEST_CASE("rollouts by other weights than those that are trained are found") {
  PlayedPolicy policy(2, true);
  policy.rollouts.play(0, 8);
  CHECK_THAT(policy.rollouts.mismatch(),
             Contains("rollout 1: log-probabilities of generated tokens differ"));
}

TEST_CASE("rollouts take the memory that their plan says") {
  PlayedPolicy policy(2);
  const Plan evaluation = make_plan(*policy.model.graph, false);
  CHECK(policy.rollouts.memory_bytes() == policy.rollouts.memory_bytes(evaluation, 2, 2));
  CHECK(policy.rollouts.memory_bytes() > 1e6);
}

}  // namespace bench::training
