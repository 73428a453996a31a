#include "training/engine/replica.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "devices/host_clock.h"

namespace bench::training {
namespace {

/// The elements of a tensor in a row of all tensors.
struct ElementRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

ElementRange elements_in(View row, View tensor) {
  const std::int64_t first = element_of(row, tensor);
  return {first, first + tensor.elements()};
}

}  // namespace

void Replica::make_chunks(const std::vector<BlockRange>& blocks) {
  chunks_.clear();
  const View parameters = weights_.all(), slopes = gradients();
  std::int64_t state = 0;  // elements of the previous ranges
  // By place, which no schedule changes, and with it no sum over parameters.
  std::vector<std::pair<ElementRange, int>> tensors;
  for (const auto& [tensor, action] : plan_.gradient_order)
    tensors.emplace_back(elements_in(slopes, lanes_[0]->gradient({nullptr, tensor})), tensor);
  std::ranges::sort(tensors, {}, [](const auto& tensor) { return tensor.first.first; });
  for (const BlockRange& range : blocks) {
    const std::int64_t start = range.first * kBlock;
    for (const auto& [own, tensor] : tensors) {
      require(own.first == elements_in(parameters, weights_.view(plan_, tensor)).first, "replica",
              "a parameter and its gradient have different offsets");
      const ParameterOptions& options = plan_.graph->tensor(tensor).parameter;
      for (std::int64_t block = std::max(range.first, own.first / kBlock);
           block < range.last && block * kBlock < own.last; ++block) {
        const std::int64_t first = std::max(own.first, block * kBlock);
        const std::int64_t count = std::min(own.last, (block + 1) * kBlock) - first;
        chunks_.push_back({state + first - start, options.decay, part_of(parameters, first, count),
                           part_of(slopes, first, count), options.slice.is_part()});
      }
    }
    state += blocks_in(slopes, range).elements();
  }
  if (!kernels_.memory->on_host()) join_chunks();
}

/// A device updates adjacent ranges with equal settings in one call: a call per block would cost
/// more than the update.
void Replica::join_chunks() {
  std::vector<UpdateRange> joined;
  for (const UpdateRange& chunk : chunks_) {
    if (!joined.empty()) {
      UpdateRange& last = joined.back();
      const std::int64_t count = last.parameters.elements();
      const auto follows = [count](View before, View after) {
        return part_of(before, count, 0).data == after.data;
      };
      if (last.decay == chunk.decay && last.first + count == chunk.first &&
          follows(last.parameters, chunk.parameters) && follows(last.gradients, chunk.gradients)) {
        last.parameters.columns += chunk.parameters.columns;
        last.gradients.columns += chunk.gradients.columns;
        continue;
      }
    }
    joined.push_back(chunk);
  }
  chunks_ = std::move(joined);
}

Replica::Replica(const Plan& plan, Var losses, const KernelFactory& kernels,
                 std::unique_ptr<Optimizer> optimizer, const ReplicaOptions& options)
    : plan_(plan),
      losses_(losses),
      options_(options),
      kernels_(kernels(plan.graph->compute())),
      weights_(plan, options.seed, kernels_.memory),
      optimizer_(std::move(optimizer)),
      pool_(options.lanes),
      lane_times_(static_cast<std::size_t>(options.lanes)),
      loss_scale_(plan.graph->compute(), options.loss_scale) {
  require(plan.training, "replica", "the plan is for evaluation, not training");
  require(kernels_.memory->on_host() || options.lanes == 1, "replica",
          std::to_string(options.lanes) + " lanes requested; a device has one");
  require(!options.is_stage() || (kernels_.memory->on_host() && options.lanes == 1), "replica",
          "a stage of a pipeline has one thread on a host");
  const int lanes =
      options.is_stage() ? micro_batches_in_flight(options.stage.passes) : options.lanes;
  for (int lane = 0; lane < lanes; ++lane)
    lanes_.push_back(std::make_unique<Lane>(
        plan, weights_, kernels, options.is_stage() && lane > 0 ? lanes_.front().get() : nullptr));
  squares_.resize(static_cast<std::size_t>(blocks_of(gradients())));
}

void Replica::own(const std::vector<BlockRange>& blocks) {
  owns_ = true;
  make_chunks(blocks);
  std::int64_t elements = 0;
  for (const BlockRange& range : blocks) elements += blocks_in(gradients(), range).elements();
  if (state_folder_.empty())
    return optimizer_->prepare(elements, plan_.graph->compute(), kernels_.memory);
  require(kernels_.memory->on_host(), "replica", "a device keeps its optimizer state in memory");
  const StateWindows windows = StateWindows::of(elements);
  optimizer_->prepare(windows.buffered(), plan_.graph->compute(), kernels_.memory);
  state_file_ = std::make_unique<StateFile>(state_folder_, optimizer_->state(), windows);
  find_windows();
}

void Replica::find_windows() {
  const StateWindows& windows = state_file_->windows();
  windows_.assign(static_cast<std::size_t>(windows.count()), {});
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const UpdateRange& chunk = chunks_[i];
    const std::int64_t window = windows.window_of(chunk.first);
    require(window == windows.window_of(chunk.first + chunk.parameters.elements() - 1), "replica",
            "an update is in two windows of the optimizer's state");
    ChunkRange& range = windows_[static_cast<std::size_t>(window)];
    if (range.last == 0) range.first = i;
    require(range.last == 0 || range.last == i, "replica", "updates are not in order");
    range.last = i + 1;
  }
}

std::vector<NamedView> Replica::optimizer_state() const {
  return state_file_ ? state_file_->state() : optimizer_->state();
}

double Replica::forward_backward(const Fill& fill, std::int64_t rows_in_all, const Hooks& hooks) {
  const double scale =
      loss_scale_.value() / static_cast<double>(rows_in_all > 0 ? rows_in_all : rows());
  if (options_.is_stage())
    run_stage(fill, scale, hooks);
  else
    pool_.run([&](int lane) { run_lane(lane, fill, scale, hooks); });
  return loss_sum() / static_cast<double>(rows());
}

double Replica::loss_sum() const {
  double sum = 0.0;
  if (options_.is_stage())  // one sum of all lanes, unless another stage has the losses
    return options_.stage.chunks.back().sent ? 0.0 : lanes_.front()->sum_of_losses();
  for (const auto& lane : lanes_) sum += lane->sum_of_losses();
  return sum;
}

namespace {

/// Spent in exchanges within passes.
struct Exchanges {
  Seconds tensor, context, expert, shard, processor;

  Seconds all() const { return tensor + context + expert + shard; }

  static Exchanges of(const Lane& lane) {
    const KernelSet& kernels = lane.kernels();
    Exchanges all;
    const auto take = [&](const std::unique_ptr<RankKernels>& ranks, Seconds& spent) {
      if (!ranks) return;
      spent = ranks->spent();
      all.processor += ranks->processor();
    };
    take(kernels.ranks, all.tensor);
    take(kernels.context, all.context);
    take(kernels.expert_ranks, all.expert);
    take(kernels.copies, all.shard);
    return all;
  }
};

/// Attributes a thread's time to phases; exchanges within passes are phases of their own.
class Laps {
 public:
  explicit Laps(Replica::Times& times) : times_(times) {}

  /// The lane that works from now on.
  void use(const Lane& lane) {
    lane_ = &lane;
    exchanges_ = Exchanges::of(lane);
  }
  void end(Seconds& phase, Seconds* processor = nullptr) {
    lane_->memory().synchronise();  // a device runs asynchronously
    const Seconds now = steady_now();
    const Exchanges exchanges = Exchanges::of(*lane_);
    phase += now - before_ - (exchanges.all() - exchanges_.all());
    const Seconds on_processor = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
    if (processor != nullptr)
      *processor += on_processor - processor_ - (exchanges.processor - exchanges_.processor);
    processor_ = on_processor;
    times_.tensor_exchange += exchanges.tensor - exchanges_.tensor;
    times_.context_exchange += exchanges.context - exchanges_.context;
    times_.expert_exchange += exchanges.expert - exchanges_.expert;
    times_.shard_exchange += exchanges.shard - exchanges_.shard;
    before_ = now;
    exchanges_ = exchanges;
  }
  /// Also on the lane's timeline.
  void end(Seconds& phase, Activity activity, Seconds* processor = nullptr) {
    const Seconds begin = before_;
    end(phase, processor);
    if (lane_->timeline() != nullptr) lane_->timeline()->add(activity, begin, before_);
  }

 private:
  Replica::Times& times_;
  const Lane* lane_ = nullptr;
  Seconds before_ = steady_now(), processor_ = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
  Exchanges exchanges_ = {};
};

/// Measures how long a recorded thread is on a processor until the end of the scope.
class ProcessorTime {
 public:
  explicit ProcessorTime(Timeline* timeline) : timeline_(timeline) {
    if (timeline_ == nullptr) return;
    wall_ = steady_now();
    processor_ = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
  }
  ~ProcessorTime() {
    if (timeline_ == nullptr) return;
    timeline_->add_running(steady_now() - wall_, cpu_time_of(CLOCK_THREAD_CPUTIME_ID) - processor_);
  }
  ProcessorTime(const ProcessorTime&) = delete;
  ProcessorTime& operator=(const ProcessorTime&) = delete;

 private:
  Timeline* timeline_;
  Seconds wall_, processor_;
};

void call_after_backward(const Lane& lane, int number, const LaneHooks& hooks) {
  if (!hooks.after_backward) return;
  const TimelineScope recorded(lane.timeline(), Activity::tables);
  hooks.after_backward(lane, number);
}

}  // namespace

void Replica::record(StepTimelines* timelines) {
  timelines_ = timelines;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Timeline* lane = nullptr;  // a stage has one thread
    if (timelines != nullptr) lane = &timelines->lanes[options_.is_stage() ? 0 : i];
    lanes_[i]->record(lane);
  }
}

void Replica::run_stage(const Fill& fill, double scale, const Hooks& hooks) {
  const Stage& stage = options_.stage;
  StageLinks& links = *stage.links;
  Times& times = lane_times_.front() = {};
  Laps laps(times);
  const ProcessorTime processor(lanes_.front()->timeline());
  for (const StagePass& pass : stage.passes) {
    const int number = pass.micro_batch;
    const StageChunk& chunk = stage.chunks[static_cast<std::size_t>(pass.chunk)];
    Lane& lane = *lanes_[static_cast<std::size_t>(number) % lanes_.size()];
    laps.use(lane);
    const StepScalars scalars{scale, number == 0};
    switch (pass.kind) {
      case StagePass::forward:
        if (pass.chunk == 0) fill(lane, number);
        laps.end(times.data, Activity::data, &times.data_processor);
        if (chunk.received) links.receive_from_previous(lane.tensor(chunk.received));
        laps.end(times.pipeline_wait, Activity::messages);
        lane.run(chunk.forward.first, chunk.forward.last, scalars);
        if (chunk.sent) {
          const TimelineScope recorded(lane.timeline(), Activity::messages);
          links.send_to_next(lane.tensor(chunk.sent));
        } else
          lane.add_up(losses_, number > 0);
        laps.end(times.forward, &times.forward_processor);
        break;
      case StagePass::backward:
        if (chunk.sent) links.receive_from_next(lane.gradient(chunk.sent));
        laps.end(times.pipeline_wait, Activity::messages);
        lane.run(chunk.backward.first, chunk.backward.last, scalars);
        if (chunk.received) {
          const TimelineScope recorded(lane.timeline(), Activity::messages);
          links.send_to_previous(lane.gradient(chunk.received));
        }
        if (pass.chunk == 0) call_after_backward(lane, number, hooks);
        laps.end(times.backward, &times.backward_processor);
        break;
      case StagePass::weight_gradients:
        lane.run(plan_.weights_begin, static_cast<int>(plan_.actions.size()), scalars);
        laps.end(times.backward, &times.backward_processor);
        break;
    }
  }
}

void Replica::run_lane(int index, const Fill& fill, double scale, const Hooks& hooks) try {
  const auto at = static_cast<std::size_t>(index);
  Lane& lane = *lanes_[at];
  Times& times = lane_times_[at] = {};
  Laps laps(times);
  laps.use(lane);
  const ProcessorTime processor(lane.timeline());
  for (int i = 0; i < options_.micro_batches; ++i) {
    const int number = index * options_.micro_batches + i;
    fill(lane, number);
    laps.end(times.data, Activity::data, &times.data_processor);
    if (!lane.memory().on_host()) {
      lane.upload();
      laps.end(times.transfer);
    }
    const StepScalars scalars{scale, i == 0};
    lane.forward(scalars);
    lane.add_up(losses_, i > 0);
    laps.end(times.forward, &times.forward_processor);
    if (i + 1 < options_.micro_batches)
      lane.backward(scalars);
    else
      backward(index, scalars, hooks);
    call_after_backward(lane, number, hooks);
    laps.end(times.backward, &times.backward_processor);
  }
} catch (...) {
  if (hooks.failed) hooks.failed();
  throw;
}

void Replica::backward(int index, const StepScalars& scalars, const Hooks& hooks) {
  Lane& lane = *lanes_[static_cast<std::size_t>(index)];
  int done = plan_.backward_begin;
  for (std::size_t i = 0; i < hooks.milestones.size(); ++i) {
    lane.run(done, hooks.milestones[i] + 1, scalars);
    done = hooks.milestones[i] + 1;
    hooks.reached(index, static_cast<int>(i));
  }
  lane.run(done, static_cast<int>(plan_.actions.size()), scalars);
}

Replica::Times Replica::times() const {
  Times mean;
  const double share = 1.0 / static_cast<double>(lane_times_.size());
  for (const Times& lane : lane_times_) {
    mean.data += lane.data * share;
    mean.transfer += lane.transfer * share;
    mean.forward += lane.forward * share;
    mean.backward += lane.backward * share;
    mean.tensor_exchange += lane.tensor_exchange * share;
    mean.context_exchange += lane.context_exchange * share;
    mean.expert_exchange += lane.expert_exchange * share;
    mean.shard_exchange += lane.shard_exchange * share;
    mean.pipeline_wait += lane.pipeline_wait * share;
    mean.data_processor += lane.data_processor * share;
    mean.forward_processor += lane.forward_processor * share;
    mean.backward_processor += lane.backward_processor * share;
  }
  return mean;
}

void Replica::sum_lanes() {
  if (lanes_.size() == 1 || options_.is_stage()) return;  // a stage's lanes add to the same row
  pool_.run([&](int thread) {
    split_work(blocks_of(gradients()), thread, pool_.size(),
               [&](std::int64_t i) { sum_lanes(thread, i); });
  });
}

void Replica::sum_lanes(int lane, std::int64_t index) {
  const KernelSet& kernels = lanes_[static_cast<std::size_t>(lane)]->kernels();
  for (std::size_t other = 1; other < lanes_.size(); ++other)
    kernels.elementwise->copy(block_of(lanes_[other]->gradients(), index),
                              block_of(gradients(), index), true);
}

std::vector<double>& Replica::square_sums(const std::vector<BlockRange>& blocks) {
  const View all = gradients();
  std::fill(squares_.begin(), squares_.end(), 0.0);
  if (!kernels_.memory->on_host()) {
    // A device parallelizes by itself; per-thread calls would serialize.
    for (const BlockRange& range : blocks)
      if (range.size() > 0)
        squares_[static_cast<std::size_t>(range.first)] =
            kernels_.optimizer->square_sum(blocks_in(all, range));
    return squares_;
  }
  pool_.run([&](int thread) {
    OptimizerKernels& kernels = *lanes_[static_cast<std::size_t>(thread)]->kernels().optimizer;
    for (const BlockRange& range : blocks)
      split_work(range.size(), thread, pool_.size(), [&](std::int64_t i) {
        squares_[static_cast<std::size_t>(range.first + i)] =
            kernels.square_sum(block_of(all, range.first + i));
      });
  });
  return squares_;
}

std::vector<Replica::UpdateSquares> Replica::square_sums_of_updates() const {
  std::vector<UpdateSquares> squares;
  for (const UpdateRange& range : chunks_)
    squares.push_back({kernels_.optimizer->square_sum(range.gradients), range.divided});
  return squares;
}

double Replica::gradient_norm() {
  return root_of_sum(square_sums({{0, blocks_of(gradients())}})) / loss_scale_.value();
}

double root_of_sum(const std::vector<double>& squares) {
  double sum = 0.0;
  for (const double square : squares) sum += square;
  return std::sqrt(sum);
}

void Replica::update(double rate, double gradient_scale) {
  if (!owns_) own({{0, blocks_of(gradients())}});
  ++steps_;
  optimizer_->begin_step({rate, gradient_scale, updates_done()});
  if (!state_file_) return update_chunks({0, chunks_.size()}, 0);
  const StateWindows& windows = state_file_->windows();
  for (std::int64_t window = 0; window < windows.count(); ++window) {
    {
      const TimelineScope recorded(timeline(), Activity::offload_wait);
      state_file_->acquire(window);
    }
    update_chunks(windows_[static_cast<std::size_t>(window)],
                  windows.buffer_of(window) - windows.first(window));
    state_file_->release(window);
  }
}

/// `moved`: the distance from the offsets of their state to where it is in the optimizer's memory.
void Replica::update_chunks(ChunkRange chunks, std::int64_t moved) {
  const TimelineScope recorded(timeline(), Activity::update);
  pool_.run([&](int thread) {
    const KernelSet& kernels = lanes_[static_cast<std::size_t>(thread)]->kernels();
    const auto work = [&] {
      split_work(static_cast<std::int64_t>(chunks.last - chunks.first), thread, pool_.size(),
                 [&](std::int64_t i) {
                   UpdateRange range = chunks_[chunks.first + static_cast<std::size_t>(i)];
                   range.first += moved;
                   optimizer_->update(kernels, range);
                 });
    };
    if (!kernels.recorder) return work();
    kernels.recorder->run(RecordingKey::of_update(updates_done() == 1), work);
  });
}

double Replica::clip_scale(const Step& step, double clip) const {
  if (!std::isfinite(step.loss) || !std::isfinite(step.gradient_norm))
    throw Error(ErrorKind::internal,
                "step " + std::to_string(steps_) + " has loss " + std::to_string(step.loss) +
                    " and gradient norm " + std::to_string(step.gradient_norm),
                "lower the learning rate, or check the memory for bit errors");
  return clip > 0.0 && step.gradient_norm > clip ? clip / step.gradient_norm : 1.0;
}

void Replica::finish(Step& step, double rate, double clip) {
  const double loss_scale = loss_scale_.value();
  step.skipped = !loss_scale_.accepts(step.gradient_norm);
  if (step.skipped) {
    ++steps_;
    return;
  }
  step.gradient_scale = clip_scale(step, clip) / loss_scale;
  update(rate, step.gradient_scale);
}

Replica::Step Replica::step(const Fill& fill, double rate, double clip) {
  Step step;
  step.loss = forward_backward(fill);
  sum_lanes();
  step.gradient_norm = gradient_norm();
  finish(step, rate, clip);
  return step;
}

std::int64_t Replica::memory_bytes(Label label) const {
  const std::int64_t bytes = plan_.peak_bytes()[static_cast<std::size_t>(label)];
  const bool shared = label == Label::parameters || label == Label::constants ||
                      (options_.is_stage() && label == Label::gradients);
  return shared ? bytes : bytes * static_cast<std::int64_t>(lanes_.size());
}

}  // namespace bench::training
