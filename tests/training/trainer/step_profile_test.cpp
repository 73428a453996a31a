// Where steps spend time, against delays that the tests put there.
#include "training/trainer/step_profile.h"

#include <thread>

#include "tests/support/catch.h"
#include "tests/training/short_training.h"
#include "training/host/host_kernels.h"

namespace bench::training {
namespace {

constexpr Seconds kShort{0.0005}, kLong{0.004};

void spin(Seconds time) {
  const Seconds end = steady_now() + time;
  while (steady_now() < end) {
  }
}

void sleep(Seconds time) { std::this_thread::sleep_for(std::chrono::duration<double>(time.value)); }

/// Passes its input on, and takes this long for it.
class Delay final : public Operator {
 public:
  Delay(Seconds time, bool asleep) : time_(time), asleep_(asleep) {}
  std::string_view name() const override { return "delay"; }
  void forward(const Frame& frame) const override {
    if (asleep_)
      sleep(time_);
    else
      spin(time_);
    frame.kernels->elementwise->copy(frame.inputs[0], frame.output, false);
  }
  void backward(const Frame&) const override {}
  double flops() const override { return 100.0; }

 private:
  Seconds time_;
  bool asleep_;
};

struct DelayedGraph {
  Graph graph;
  Plan plan;
  std::unique_ptr<Weights> weights;
  std::unique_ptr<Lane> lane;

  /// An operator for each delay, in modules "part0", "part1", ...
  explicit DelayedGraph(const std::vector<Seconds>& delays, bool asleep = false) {
    Var x = graph.input("x", {4, 8}, Dtype::f32);
    for (std::size_t i = 0; i < delays.size(); ++i) {
      const Var gain = graph.parameter("part" + std::to_string(i) + ".gain", {1, 8});
      x = graph.apply(std::make_unique<Delay>(delays[i], asleep), {x, gain}, {4, 8});
    }
    plan = make_plan(graph, false);
    weights = std::make_unique<Weights>(plan, 1);
    lane = std::make_unique<Lane>(plan, *weights, [](Dtype type) { return host_kernels(type); });
  }

  /// Of this many steps, each a forward pass and then `after`.
  template <class After>
  StepProfile profile(int steps, const After& after) {
    StepProfiler profiler(plan, 1, 1);
    for (int step = 0; step < steps; ++step) {
      StepTimelines* timelines = profiler.begin_step(step);
      lane->record(timelines != nullptr ? timelines->lanes.data() : nullptr);
      const Seconds begin = steady_now();
      const Seconds processor = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
      lane->forward({});
      if (timelines != nullptr)
        timelines->lanes[0].add_running(steady_now() - begin,
                                        cpu_time_of(CLOCK_THREAD_CPUTIME_ID) - processor);
      after(timelines);
      profiler.end_step(begin, steady_now());
    }
    return profiler.finish();
  }
  StepProfile profile(int steps) {
    return profile(steps, [](StepTimelines*) {});
  }
};

double named_seconds(const StepProfile& profile) {
  double sum = profile.unattributed;
  for (const ProfiledOperation& operation : profile.operations) sum += operation.seconds;
  for (const ProfiledActivity& activity : profile.activities) sum += activity.seconds;
  return sum;
}

double seconds_of(const StepProfile& profile, const std::string& activity) {
  for (const ProfiledActivity& one : profile.activities)
    if (one.activity == activity) return one.seconds;
  return 0.0;
}

}  // namespace

TEST_CASE("profile: an operation has the time that it takes, and its module") {
  DelayedGraph delayed({kShort, kLong, kShort});
  const StepProfile profile = delayed.profile(14);
  REQUIRE(profile.operations.size() == 3);
  CHECK(profile.operations[1].module == "part1");
  CHECK(profile.operations[1].low >= kLong.value);
  CHECK(profile.operations[0].low < 0.5 * kLong.value);
  CHECK(profile.operations[2].low < 0.5 * kLong.value);
  CHECK(profile.operations[1].flops == 100.0);
  // Its input, its output and the gain, in four bytes.
  CHECK(profile.operations[1].bytes == 4.0 * (32 + 32 + 8));
  CHECK(named_seconds(profile) == Approx(profile.step_seconds).epsilon(1e-5));
}

TEST_CASE("profile: every other step is recorded, after two to warm up") {
  DelayedGraph delayed({Seconds{}});
  const StepProfile profile = delayed.profile(10);
  REQUIRE(profile.steps.size() == 8);
  CHECK(profile.steps.front().number == 2);
  std::vector<bool> recorded;
  for (const StepProfile::Step& step : profile.steps) recorded.push_back(step.recorded);
  CHECK(recorded == std::vector<bool>{true, false, false, true, true, false, false, true});
  CHECK(profile.resident.size() == 10);
}

TEST_CASE("profile: time that nothing accounts for is unattributed, a span is not") {
  DelayedGraph delayed({kShort});
  const StepProfile idle = delayed.profile(10, [](StepTimelines*) { spin(kLong); });
  CHECK(idle.unattributed >= 0.9 * kLong.value);
  const StepProfile updating = delayed.profile(10, [](StepTimelines* timelines) {
    const TimelineScope recorded(timelines != nullptr ? &timelines->rank : nullptr,
                                 Activity::update);
    spin(kLong);
  });
  CHECK(updating.unattributed < 0.5 * kLong.value);
  CHECK(seconds_of(updating, "update") >= 0.9 * kLong.value);
}

TEST_CASE("profile: a gap between two operations is known by both") {
  DelayedGraph delayed({kShort, kShort});
  StepProfiler profiler(delayed.plan, 1, 1);
  for (int step = 0; step < 10; ++step) {
    StepTimelines* timelines = profiler.begin_step(step);
    delayed.lane->record(timelines != nullptr ? timelines->lanes.data() : nullptr);
    const Seconds begin = steady_now();
    delayed.lane->run(0, 1, {});
    spin(kLong);
    delayed.lane->run(1, 2, {});
    profiler.end_step(begin, steady_now());
  }
  const StepProfile profile = profiler.finish();
  REQUIRE(!profile.gaps.empty());
  CHECK(profile.gaps.front().after == "delay forward of part0");
  CHECK(profile.gaps.front().before == "delay forward of part1");
  CHECK(profile.gaps.front().seconds >= kLong.value);
  CHECK(profile.gaps.front().longest >= kLong.value);
}

TEST_CASE("profile: a thread that sleeps has no processor") {
  const StepProfile asleep = DelayedGraph({kLong}, true).profile(10);
  CHECK(asleep.off_processor >= 0.9 * kLong.value);
}

TEST_CASE("profile: lanes that wait for the slowest, and what a rank does meanwhile") {
  const DelayedGraph delayed({kShort});
  StepProfiler profiler(delayed.plan, 2, 1);
  const auto at = [](double seconds) { return Seconds{seconds}; };
  for (int step = 0; step < 3; ++step) {
    StepTimelines* timelines = profiler.begin_step(step);
    if (timelines != nullptr) {
      timelines->rank.add(Activity::tables, at(0.0), at(1.0));
      timelines->lanes[0].add(Activity::operation, at(1.0), at(5.0), 0);
      timelines->lanes[1].add(Activity::operation, at(1.0), at(2.0), 0);
      timelines->lanes[1].add(Activity::data, at(2.5), at(3.0));
      timelines->rank.add(Activity::exchange, at(4.0), at(6.0));  // half of it hidden
    }
    profiler.end_step(at(0.0), at(6.5));
  }
  const StepProfile profile = profiler.finish();
  CHECK(profile.operations.front().seconds == Approx(2.5));  // mean of 4 and 1
  CHECK(seconds_of(profile, "data") == Approx(0.25));
  CHECK(seconds_of(profile, "lane_wait") == Approx(1.0));  // 2 of the second
  CHECK(seconds_of(profile, "tables") == Approx(1.0));
  CHECK(seconds_of(profile, "exchange") == Approx(1.0));
  CHECK(profile.unattributed == Approx(0.75));  // the gap of the second, and the end
  CHECK(named_seconds(profile) == Approx(6.5));
}

TEST_CASE("profile: a training's operations have the model's FLOPs and memory") {
  ShortTraining training;
  training.steps = 12;
  training.recompute = true;
  training.profile = true;
  const TrainingRun run = train_short(training);
  REQUIRE(run.profile);
  const StepProfile& profile = *run.profile;
  CHECK(named_seconds(profile) == Approx(profile.step_seconds).epsilon(1e-4));
  CHECK(profile.unattributed < 0.5 * profile.step_seconds);
  const auto workload = make_workload("llm", "tiny", 1);
  const Model model = workload->model(workload->recipe().micro_batch, Dtype::f32, true);
  double flops = 0.0, again = 0.0;
  for (const ProfiledOperation& operation : profile.operations)
    (operation.phase == Phase::recompute ? again : flops) += operation.flops;
  const auto threads = static_cast<double>(profile.threads * profile.micro_batches);
  CHECK(flops * threads ==
        Approx(workload->flops_per_sample() * static_cast<double>(workload->recipe().batch)));
  CHECK(again > 0.0);
  std::int64_t peak = 0, transient = 0;
  for (const std::int64_t bytes : profile.memory) peak = std::max(peak, bytes);
  for (const MemoryUse& use : run.memory)
    if (use.label == "activations" || use.label == "activation_gradients" ||
        use.label == "workspace")
      transient += use.bytes;
  CHECK(peak * profile.threads == transient);
  CHECK(!profile.spans.empty());
  for (const ProfiledSpan& span : profile.spans) {
    CHECK(span.begin >= 0.0);
    CHECK(span.begin + span.seconds <=
          profile.steps[static_cast<std::size_t>(span.step)].seconds * (1.0 + 1e-9));
  }
}

TEST_CASE("profile: slow inputs are found in the activity data") {
  ShortTraining training;
  training.steps = 8;
  training.profile = true;
  training.spoil = [](const Model&, const Lane&) { sleep(kLong); };
  const TrainingRun run = train_short(training);
  CHECK(seconds_of(*run.profile, "data") >= kLong.value);
}

}  // namespace bench::training
