#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "training/trainer/training_run.h"

namespace bench::training {
namespace {

const PhaseTime& time_of(const std::vector<PhaseTime>& phases, RunPhase phase) {
  return phases.at(static_cast<std::size_t>(phase));
}

}  // namespace

TEST_CASE("the shares of a run add up to one, with the remainder in other") {
  Breakdown breakdown;
  breakdown.add(RunPhase::forward, {2.0});
  breakdown.add(RunPhase::forward, {1.0});
  breakdown.add(RunPhase::backward, {4.0});
  breakdown.add(RunPhase::exchange_hidden, {3.0});  // overlapped with the backward pass
  const auto group = make_self_group();
  const auto phases = breakdown.over_ranks(*group, {10.0});
  double shares = 0.0;
  for (const PhaseTime& time : phases) shares += time.share.value_or(0.0);
  CHECK(shares == Approx(1.0));
  CHECK(time_of(phases, RunPhase::forward).share.value() == Approx(0.3));
  CHECK(time_of(phases, RunPhase::other).mean.value == Approx(3.0));
  CHECK_FALSE(time_of(phases, RunPhase::exchange_hidden).share);
  CHECK(time_of(phases, RunPhase::exchange_hidden).mean.value == Approx(3.0));
}

TEST_CASE("a phase over ranks has its mean and its slowest rank") {
  std::vector<PhaseTime> phases;
  run_ranks(3, [&](Group& group) {
    Breakdown breakdown;
    breakdown.add(RunPhase::backward, {group.rank() == 1 ? 7.0 : 4.0});
    const auto own = breakdown.over_ranks(group, {10.0});
    if (group.rank() == 0) phases = own;
  });
  CHECK(time_of(phases, RunPhase::backward).mean.value == Approx(5.0));
  CHECK(time_of(phases, RunPhase::backward).slowest_rank == 1);
  CHECK(time_of(phases, RunPhase::backward).share.value() == Approx(0.5));
}

}  // namespace bench::training
