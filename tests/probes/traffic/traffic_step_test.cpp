#include "probes/traffic/traffic_step.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/probes/traffic/logged_calls.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "training/host/host_kernels.h"

namespace bench {
using Catch::Matchers::Contains;
namespace {

StepSettings tiny_step() {
  StepSettings settings;
  settings.model = {.name = "small",
                    .layers = 3,
                    .width = 8,
                    .heads = 4,
                    .kv_heads = 4,
                    .head_dim = 2,
                    .hidden = 1024,
                    .vocabulary = 4096,
                    .sequence = 16};
  settings.micro_batches = 2;
  settings.bucket_bytes = 1 << 15;
  settings.overlap = false;
  return settings;
}

/// What one rank of a test runs.
struct RankStep {
  RankStep(Group& group, StepSettings settings, bool shared)
      : place(traffic_place(settings.split, group.rank(), group.size())),
        schedule(make_step_schedule(settings, place)),
        groups(group, settings.split, place),
        kernels(training::host_kernels(settings.dtype)),
        computation(schedule, kernels, settings.dtype, {}, 1),
        step(schedule, groups, kernels, computation, settings.dtype, settings.sums_by_library,
             shared, 1) {}

  TrafficPlace place;
  StepSchedule schedule;
  TrafficGroups groups;
  training::KernelSet kernels;
  ComputeStandIn computation;
  TrafficStep step;
};

const TrafficSelection kStep = TrafficSelection::step();

/// The sum of what `work` returns, over ranks; work is called in their threads.
double over_ranks(int ranks, const std::function<double(Group&)>& work) {
  double sum = 0.0;
  std::mutex mutex;
  run_ranks(ranks, [&](Group& group) {
    const double own = work(group);
    const std::lock_guard lock(mutex);
    sum += own;
  });
  return sum;
}

std::vector<StepSettings> splits_of_four() {
  std::vector<StepSettings> all;
  all.push_back(tiny_step());
  all.back().split.context = 4;
  all.push_back(tiny_step());
  all.back().split.zero = 1;
  all.push_back(tiny_step());
  all.back().split.zero = 3;
  all.push_back(tiny_step());
  all.back().split = {.pipeline = 2, .context = 2};
  all.push_back(tiny_step());
  all.back().split.expert = 4;
  all.back().model.experts = 8;
  all.back().model.active_experts = 2;
  all.back().model.expert_hidden = 16;
  all.back().routing = ExpertRouting::drawn(8, 1.0, 1);
  return all;
}

class FailingGemm final : public training::GemmKernels {
 public:
  void multiply(const training::GemmOptions&, training::View, training::View,
                training::View) override {
    throw Error(ErrorKind::internal, "a GEMM failed");
  }
};

}  // namespace

TEST_CASE("operations that share buffers verify what their last one left, and each on its own") {
  std::vector<StepSettings> all = splits_of_four();
  for (StepSettings settings : all) {
    INFO(split_text(settings.split, 1));
    const double wrong = over_ranks(4, [&](Group& group) {
      RankStep rank(group, settings, true);
      rank.step.run(kStep);
      const double found = rank.step.wrong(kStep) + rank.step.wrong_in_each(kStep);
      return found + (rank.step.own_outputs() < 1.0 ? 0.0 : 1e6);
    });
    CHECK(wrong == 0.0);
  }
  StepSettings stages = tiny_step();
  stages.split.pipeline = 3;
  CHECK(over_ranks(3, [&](Group& group) {
          RankStep rank(group, stages, true);
          rank.step.run(kStep);
          return rank.step.wrong(kStep) + rank.step.wrong_in_each(kStep);
        }) == 0.0);
}

TEST_CASE("all ranks share buffers if one must, and none shares those of control") {
  StepSettings settings = tiny_step();
  settings.split.pipeline = 2;  // of three layers: the stages differ
  settings.split.zero = 1;
  std::set<double> needs;
  std::set<bool> shared;
  std::mutex mutex;
  const auto try_limit = [&](std::int64_t limit) {
    shared.clear();
    run_ranks(4, [&](Group& group) {
      const TrafficPlace place = traffic_place(settings.split, group.rank(), group.size());
      const StepSchedule schedule = make_step_schedule(settings, place);
      const GroupSizes sizes = group_sizes(settings.split, place);
      const bool shares = shares_buffers(group, schedule, sizes, Dtype::f32, limit);
      const std::lock_guard lock(mutex);
      shared.insert(shares);
      needs.insert(make_buffer_plan(schedule, sizes, Dtype::f32, false).bytes());
    });
  };
  try_limit(1);
  REQUIRE(needs.size() == 2);
  try_limit(static_cast<std::int64_t>((*needs.begin() + *needs.rbegin()) / 2.0));
  CHECK(shared == std::set<bool>{true});
  try_limit(static_cast<std::int64_t>(*needs.rbegin()));
  CHECK(shared == std::set<bool>{false});

  const TrafficPlace place = traffic_place(settings.split, 0, 4);
  const StepSchedule schedule = make_step_schedule(settings, place);
  const BufferPlan plan =
      make_buffer_plan(schedule, group_sizes(settings.split, place), Dtype::f32, true);
  for (const TrafficOp& op : schedule.ops)
    if (op.kind == TrafficKind::control)
      CHECK(plan.buffers[plan.buffer_of_slot[static_cast<std::size_t>(op.slot)]].numbers ==
            op.elements);
}

TEST_CASE("the memory of a step is known before it is allocated") {
  for (const bool shared : {false, true})
    for (const StepSettings& settings : splits_of_four()) {
      INFO(split_text(settings.split, 1) << " " << shared);
      const double difference = over_ranks(4, [&](Group& group) {
        RankStep rank(group, settings, shared);
        const GroupSizes sizes = group_sizes(settings.split, rank.place);
        return std::abs(make_buffer_plan(rank.schedule, sizes, Dtype::f32, shared).bytes() -
                        static_cast<double>(rank.step.bytes())) +
               std::abs(ComputeStandIn::bytes_of(rank.schedule, Dtype::f32, {}) -
                        static_cast<double>(rank.computation.bytes()));
      });
      CHECK(difference == 0.0);
    }
}

TEST_CASE("an all-to-all of a trace counts what it sends and receives, and shares its buffer") {
  StepSchedule schedule;
  for (int i = 0; i < 3; ++i)
    schedule.ops.push_back({.kind = TrafficKind::all_to_all,
                            .what = "trace",
                            .to = {std::int64_t{1} << 37, std::int64_t{1} << 37},
                            .from = {std::int64_t{1} << 37, std::int64_t{1} << 37},
                            .slot = schedule.slots++});
  const GroupSizes sizes = group_sizes({}, traffic_place({}, 0, 2));
  CHECK(make_buffer_plan(schedule, sizes, Dtype::f32, false).bytes() == 3 * 0x1p41);
  CHECK(make_buffer_plan(schedule, sizes, Dtype::f32, true).bytes() == 0x1p41);
  CHECK_THAT(call_obstacle(schedule.ops[0], 2, Dtype::f32, false),
             Contains("above the limit of MPI"));
}

TEST_CASE("counts above those of the library's calls are found, by how each is made") {
  constexpr std::int64_t kMost = 0x7fffffff;
  const auto refused = [](TrafficKind kind, std::int64_t elements, bool library) {
    return !call_obstacle({.kind = kind, .what = "x", .elements = elements}, 4, Dtype::f32, library)
                .empty();
  };
  CHECK_FALSE(refused(TrafficKind::sum, kMost, true));
  CHECK(refused(TrafficKind::sum, kMost + 1, true));
  CHECK_FALSE(refused(TrafficKind::sum, kMost + 1, false));  // in four parts
  CHECK(refused(TrafficKind::sum, 4 * kMost + 1, false));
  CHECK_FALSE(refused(TrafficKind::gather, kMost, false));
  CHECK(refused(TrafficKind::gather, kMost + 1, false));
  CHECK_FALSE(refused(TrafficKind::send, kMost / 4, false));  // bytes
  CHECK(refused(TrafficKind::receive, kMost / 4 + 1, false));
  CHECK_FALSE(refused(TrafficKind::compute, kMost + 1, false));
}

TEST_CASE("an exchange of rows receives after each send") {
  const StepSettings settings = splits_of_four().back();
  std::mutex mutex;
  std::vector<LoggedCalls::Log> logs;
  run_ranks(4, [&](Group& group) {
    LoggedCalls::Log log;
    {
      LoggedCalls logged(group, log);
      RankStep rank(logged, settings, false);
      rank.step.run(TrafficSelection::alone(TrafficGroup::expert));
    }
    const std::lock_guard lock(mutex);
    logs.push_back(log);
  });
  for (const LoggedCalls::Log& log : logs) {
    REQUIRE(log.size() > 10);
    int open = 0, most = 0;
    for (const std::string& call : log) {
      open += call.starts_with("send") ? 1 : -1;
      most = std::max(most, open);
    }
    CHECK(most == 1);
  }
}

TEST_CASE("a bit that is wrong in the timed step alone is found, and so is a lost message") {
  for (const StepSettings& settings : splits_of_four()) {
    INFO(split_text(settings.split, 1));
    std::atomic<bool> flips = false, loses = false;
    std::atomic<double> flipped = 0.0, lost = 0.0, swapped = 0.0, good = 0.0;
    run_ranks(4, [&](Group& group) {
      LoggedCalls::Log log;
      LoggedCalls logged(group, log, [&](int, std::span<std::byte> received) {
        if (flips && received.size() > 6) received[6] ^= std::byte{0x10};
      });
      logged.loses = [&] { return loses.load(); };
      RankStep rank(logged, settings, false);
      const auto set = [&](std::atomic<bool>& fault, bool value) {
        group.barrier();
        fault = value;
        group.barrier();
      };
      rank.step.poison();
      set(flips, true);
      rank.step.run(kStep);
      set(flips, false);
      flipped += rank.step.wrong(kStep);
      good += rank.step.wrong_in_each(kStep);
      rank.step.run(kStep);
      good += rank.step.wrong(kStep);
      rank.step.poison();
      set(loses, true);
      rank.step.run(kStep);
      lost += rank.step.wrong(kStep);
      swapped += rank.step.wrong_in_each(kStep);  // whole outputs are overwritten before
      set(loses, false);
    });
    CHECK(good == 0.0);
    CHECK(flipped > 0.0);
    if (settings.split.context > 1 || settings.split.pipeline > 1 || settings.split.expert > 1) {
      CHECK(lost > 0.0);
      CHECK(swapped > lost);
    }
  }
}

TEST_CASE("messages of a ring that arrive in another order are found") {
  StepSettings settings = tiny_step();
  settings.split.context = 4;
  CHECK(over_ranks(4, [&](Group& group) {
          RankStep rank(group, settings, false);
          std::vector<const TrafficOp*> received;
          for (const TrafficOp& op : rank.schedule.ops)
            if (op.kind == TrafficKind::receive && op.micro_batch == 0) received.push_back(&op);
          const BufferPlan plan = make_buffer_plan(
              rank.schedule, group_sizes(settings.split, rank.place), Dtype::f32, false);
          std::set<std::uint64_t> seeds;
          for (const TrafficOp* op : received)
            seeds.insert(plan.seed_of_slot[static_cast<std::size_t>(op->slot)]);
          return static_cast<double>(received.size() - seeds.size());
        }) == 0.0);
}

TEST_CASE("a computation that fails next to an exchange ends the step") {
  StepSettings settings = tiny_step();
  settings.overlap = true;
  CHECK_THROWS_WITH(run_ranks(2,
                              [&](Group& group) {
                                RankStep rank(group, settings, false);
                                if (rank.schedule.overlaps)
                                  rank.kernels.gemm = std::make_unique<FailingGemm>();
                                rank.step.run(kStep);
                              }),
                    Contains("a GEMM failed"));
}

}  // namespace bench
