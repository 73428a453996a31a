#include "probes/storage/checkpoint_async.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/order_statistics.h"
#include "core/text.h"
#include "devices/host_clock.h"
#include "probes/storage/file_system_facts.h"
#include "probes/storage/random_blocks.h"
#include "probes/storage/work_folder.h"

namespace bench::storage {
namespace {

Seconds longest(Group& group, Seconds time) { return {largest(group, time.value)}; }

}  // namespace

AsyncCheckpoint::AsyncCheckpoint(Group& group, const CheckpointStore& store,
                                 const CheckpointSetting& setting, std::span<const std::byte> state)
    : group_(group), store_(store), setting_(setting), state_(state), staging_(state.size()) {
  setting_.bytes = state.size();
}

AsyncCheckpoint::~AsyncCheckpoint() {
  if (thread_.joinable()) thread_.join();
}

AsyncCheckpoint::Saved AsyncCheckpoint::save(std::int64_t step) {
  const Seconds begin = steady_now();
  const auto former = finish();
  const Seconds back_pressure = former ? steady_now() - begin : Seconds{0.0};
  together(group_, [&] { store_.make_folder(step); });
  stage();
  const Seconds stall = steady_now() - begin;
  step_ = step;
  begun_ = steady_now();
  done_ = false;
  failure_ = {};
  thread_ = std::thread([this] { drain(); });
  return {longest(group_, stall), longest(group_, back_pressure), former};
}

void AsyncCheckpoint::stage() {
  const auto parts = static_cast<std::size_t>(setting_.threads);
  const std::size_t part = aligned_up((state_.size() + parts - 1) / parts);
  const auto copy = [this](std::size_t begin, std::size_t end) {
    if (begin < end) std::memcpy(staging_.all().data() + begin, state_.data() + begin, end - begin);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < parts; ++i)
    threads.emplace_back(copy, i * part, std::min((i + 1) * part, state_.size()));
  copy(0, std::min(part, state_.size()));
}

void AsyncCheckpoint::drain() {
  try {
    const std::span<const std::byte> copied = staging_.all().first(state_.size());
    if (!setting_.shared || group_.rank() == 0)
      for (const std::int64_t step : store_.steps())
        if (step < whole_) store_.remove(step, setting_.observer);
    shard_ = write_shard(shard_request(store_, step_, group_.rank(), setting_,
                                       chunks_of(copied, setting_.chunk_bytes)));
  } catch (...) {
    failure_ = std::current_exception();
  }
  done_ = true;
}

std::optional<Seconds> AsyncCheckpoint::poll() {
  if (!writing()) return {};
  if (largest(group_, done_ ? 0.0 : 1.0) > 0.0) return {};
  return commit();
}

std::optional<Seconds> AsyncCheckpoint::finish() {
  if (!writing()) return {};
  return commit();
}

Seconds AsyncCheckpoint::commit() {
  thread_.join();
  together(group_, [&] {
    if (failure_) std::rethrow_exception(failure_);
  });
  commit_checkpoint(group_, store_, step_, setting_, shard_);
  whole_ = step_;
  return longest(group_, steady_now() - begun_);
}

namespace {

constexpr std::size_t kWords = (4u << 20) / sizeof(double);  // past the caches of a core
constexpr int kTrials = 9;

}  // namespace

EmulatedStep::EmulatedStep(StepKind kind, Seconds length) : kind_(kind), length_(length) {
  if (kind_ == StepKind::sleep) return;
  memory_.assign(kWords, 1.0);
  pass();
  std::vector<double> trials;
  for (int i = 0; i < kTrials; ++i) {
    const Seconds begin = steady_now();
    pass();
    trials.push_back((steady_now() - begin).value);
  }
  const double passes = length_.value / std::max(median(trials), 1e-9);
  passes_ = std::max<std::int64_t>(1, std::llround(passes));
}

void EmulatedStep::pass() {
  for (double& word : memory_) word = word * 0.999999 + 1e-6;
}

Seconds EmulatedStep::run() {
  const Seconds begin = steady_now();
  if (kind_ == StepKind::sleep)
    std::this_thread::sleep_for(std::chrono::duration<double>(length_.value));
  else
    for (std::int64_t i = 0; i < passes_; ++i) pass();
  return steady_now() - begin;
}

namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Ranks wait for each other at the end of a step, as in training.
double slowest_step(Group& group, EmulatedStep& step) { return largest(group, step.run().value); }

}  // namespace

double AsyncTimes::inflation() const {
  if (quiet_steps.empty() || draining_steps.empty())
    return std::numeric_limits<double>::quiet_NaN();
  return median(draining_steps) / median(quiet_steps) - 1.0;
}

double AsyncTimes::overhead() const {
  if (quiet_steps.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double longer =
      sum_of(draining_steps) - static_cast<double>(draining_steps.size()) * median(quiet_steps);
  return (sum_of(stall) + longer) / total;
}

AsyncTimes train_and_save(Group& group, AsyncCheckpoint& checkpoint, EmulatedStep& step,
                          int checkpoints, int steps) {
  AsyncTimes times;
  for (int i = 0; i < steps; ++i) times.quiet_steps.push_back(slowest_step(group, step));
  const auto one_step = [&] {
    const bool writing = checkpoint.writing();
    const double seconds = slowest_step(group, step);
    const Seconds ended = steady_now();
    const auto drained = checkpoint.poll();
    if (drained) {
      times.drain.push_back(drained->value);
      times.stall.back() += (steady_now() - ended).value;
    }
    times.total += seconds + (steady_now() - ended).value;
    if (!writing)
      times.quiet_steps.push_back(seconds);
    else if (!drained)
      times.draining_steps.push_back(seconds);
  };
  for (int number = 0; number < checkpoints; ++number) {
    for (int i = 0; i < steps; ++i) one_step();
    const auto saved = checkpoint.save(number);
    times.stall.push_back(saved.stall.value);
    times.back_pressure.push_back(saved.back_pressure.value);
    if (saved.former) times.drain.push_back(saved.former->value);
    times.total += saved.stall.value;
  }
  while (checkpoint.writing()) one_step();
  return times;
}

namespace {

constexpr double kMostOfMemory = 0.7;
constexpr const char* kNoSteps =
    "no step of this kind was measured: increase async_steps or shorten step_s";

/// Why the state and its copy do not fit in memory; "" if they do.
std::string no_room(Group& group, std::uint64_t bytes) {
  const double needed = 2.0 * static_cast<double>(bytes) * ranks_on_this_host(group);
  const auto available = available_memory();
  std::string reason;
  if (available && needed > kMostOfMemory * *available)
    reason = fmt::format(
        "state and copy of this host's ranks need {}, but only {} of memory is available",
        format(Bytes{needed}), format(Bytes{*available}));
  return agreed(group, reason);
}

void write_share(State& state, const Conditions& conditions, const char* metric, double value,
                 const Json& params) {
  if (std::isnan(value))
    state.skip_series(metric, params, kNoSteps);
  else
    state.under(conditions).value(metric, value, params);
}

}  // namespace

void measure_async(State& state, const CheckpointKind& kind, const CheckpointStore& store,
                   const CheckpointSetting& setting, double to_whole) {
  Group& group = state.group();
  const Json params = kind.params();
  const std::string reason = no_room(group, setting.bytes);
  if (!reason.empty()) return state.skip_series("stall", params, reason);

  std::unique_ptr<AlignedBuffer> memory;
  std::unique_ptr<AsyncCheckpoint> checkpoint;
  together(group, [&] {
    memory = std::make_unique<AlignedBuffer>(setting.bytes);
    fill_blocks(memory->all(), state.job().seed);
    stamp_blocks(memory->all(), 0, state.job().seed * 65537 + group.rank());
    checkpoint = std::make_unique<AsyncCheckpoint>(group, store, setting, memory->all());
  });
  EmulatedStep step(kStepKinds.value(state.text("step"), "kind of step"),
                    Seconds{state.number("step_s")});
  const auto checkpoints = static_cast<int>(state.integer("async_checkpoints"));
  const auto steps = static_cast<int>(state.integer("async_steps"));
  AsyncTimes times;
  const Conditions conditions = watched(state.device(), group, Worker::threads, [&] {
    times = train_and_save(group, *checkpoint, step, checkpoints, steps);
  });
  const JudgedSeries judged = state.under(conditions);
  judged.values("stall", times.stall, params, over_ranks(state));
  judged.values("back_pressure", times.back_pressure, params, over_ranks(state));
  judged.values("drain", times.drain, params, over_ranks(state));
  write_share(state, conditions, "step_inflation", times.inflation(), params);
  write_share(state, conditions, "overhead", times.overhead(), params);
  write_faults(state, kind, {read_checkpoint(group, store, checkpoints - 1, setting)});
  // Without back-pressure, because there is none at the resulting interval.
  double copying = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < times.stall.size(); ++i)
    copying = std::min(copying, times.stall[i] - times.back_pressure[i]);
  write_interval(state, conditions, kind, Seconds{copying * to_whole},
                 Seconds{median(times.drain) * to_whole});
}

}  // namespace bench::storage
