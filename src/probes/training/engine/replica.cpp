#include "probes/training/engine/replica.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace bench::training {
namespace {

// Fixed, so that neither sums nor updates depend on the number of threads.
constexpr std::int64_t kBlock = 16384;

View part(View row, std::int64_t first, std::int64_t count) {
  auto* bytes = row.as<std::byte>();
  const auto size = static_cast<std::int64_t>(size_of(row.dtype));
  return {bytes + first * size, 1, count, row.dtype};
}

std::int64_t blocks_of(View row) { return (row.elements() + kBlock - 1) / kBlock; }

View block(View row, std::int64_t index) {
  return part(row, index * kBlock, std::min(kBlock, row.elements() - index * kBlock));
}

/// The blocks of one thread of `threads`: neighbours, so that its caches keep them.
template <class Work>
void share_blocks(std::int64_t blocks, int thread, int threads, const Work& work) {
  for (std::int64_t i = blocks * thread / threads; i < blocks * (thread + 1) / threads; ++i)
    work(i);
}

}  // namespace

Replica::Replica(const Plan& plan, Var losses, const KernelFactory& kernels,
                 std::unique_ptr<Optimizer> optimizer, const ReplicaOptions& options)
    : plan_(plan),
      losses_(losses),
      options_(options),
      weights_(plan, options.seed),
      optimizer_(std::move(optimizer)),
      pool_(options.lanes),
      lane_losses_(static_cast<std::size_t>(options.lanes)) {
  require(plan.training, "replica", "the plan is one of evaluation");
  for (int lane = 0; lane < options.lanes; ++lane)
    lanes_.push_back(std::make_unique<Lane>(plan, weights_, kernels));
  optimizer_->prepare(weights_.all().elements(), plan.graph->compute());
  squares_.resize(static_cast<std::size_t>(blocks_of(gradients())));
  make_chunks();
}

void Replica::make_chunks() {
  for (const auto& [tensor, action] : plan_.gradient_order) {
    const auto id = static_cast<std::size_t>(tensor);
    const View whole = weights_.view(plan_, tensor), slope = lanes_[0]->gradient({nullptr, tensor});
    const View row{whole.data, 1, whole.elements(), whole.dtype};
    const View slopes{slope.data, 1, slope.elements(), slope.dtype};
    const auto size = static_cast<std::int64_t>(size_of(whole.dtype));
    const std::int64_t start = (whole.as<std::byte>() - weights_.all().as<std::byte>()) / size;
    for (std::int64_t i = 0; i < blocks_of(row); ++i)
      chunks_.push_back({start + i * kBlock, plan_.graph->tensors()[id].parameter.decay,
                         block(row, i), block(slopes, i)});
  }
}

double Replica::forward_backward(const Fill& fill, std::int64_t rows_in_all) {
  const std::int64_t rows = losses_.shape().rows() * micro_batches();
  const double scale = 1.0 / static_cast<double>(rows_in_all > 0 ? rows_in_all : rows);
  pool_.run([&](int lane) { run_lane(lane, fill, scale); });
  double sum = 0.0;
  for (const double loss : lane_losses_) sum += loss;
  return sum / static_cast<double>(rows);
}

void Replica::run_lane(int index, const Fill& fill, double scale) {
  const auto at = static_cast<std::size_t>(index);
  Lane& lane = *lanes_[at];
  double sum = 0.0;
  for (int i = 0; i < options_.micro_batches; ++i) {
    fill(lane, index * options_.micro_batches + i);
    const StepScalars scalars{scale, i == 0};
    lane.forward(scalars);
    const View losses = lane.view(losses_);
    for (std::int64_t row = 0; row < losses.rows; ++row) sum += losses.as<double>()[row];
    lane.backward(scalars);
  }
  lane_losses_[at] = sum;
}

void Replica::sum_lanes() {
  if (lanes_.size() == 1) return;
  const View sum = gradients();
  pool_.run([&](int thread) {
    share_blocks(blocks_of(sum), thread, pool_.size(), [&](std::int64_t i) {
      for (std::size_t lane = 1; lane < lanes_.size(); ++lane)
        lanes_[static_cast<std::size_t>(thread)]->kernels().elementwise->copy(
            block(lanes_[lane]->gradients(), i), block(sum, i), true);
    });
  });
}

double Replica::gradient_norm() {
  const View all = gradients();
  pool_.run([&](int thread) {
    const Lane& lane = *lanes_[static_cast<std::size_t>(thread)];
    share_blocks(blocks_of(all), thread, pool_.size(), [&](std::int64_t i) {
      squares_[static_cast<std::size_t>(i)] = lane.kernels().optimizer->square_sum(block(all, i));
    });
  });
  double sum = 0.0;
  for (const double square : squares_) sum += square;
  return std::sqrt(sum);
}

void Replica::update(double rate, double gradient_scale) {
  const UpdateScalars scalars{rate, gradient_scale, ++steps_};
  pool_.run([&](int thread) {
    const Lane& lane = *lanes_[static_cast<std::size_t>(thread)];
    share_blocks(
        static_cast<std::int64_t>(chunks_.size()), thread, pool_.size(), [&](std::int64_t i) {
          optimizer_->update(lane.kernels(), chunks_[static_cast<std::size_t>(i)], scalars);
        });
  });
}

Replica::Step Replica::step(const Fill& fill, double rate, double clip) {
  Step step;
  step.loss = forward_backward(fill);
  sum_lanes();
  step.gradient_norm = gradient_norm();
  if (!std::isfinite(step.loss) || !std::isfinite(step.gradient_norm))
    throw Error(ErrorKind::internal,
                "step " + std::to_string(steps_) + " has the loss " + std::to_string(step.loss) +
                    " and a gradient of length " + std::to_string(step.gradient_norm),
                "a lower learning rate, or memory that flips bits");
  const bool clipped = clip > 0.0 && step.gradient_norm > clip;
  update(rate, clipped ? clip / step.gradient_norm : 1.0);
  return step;
}

std::int64_t Replica::memory_bytes(Label label) const {
  const std::int64_t bytes = plan_.peak_bytes()[static_cast<std::size_t>(label)];
  const bool shared = label == Label::parameters || label == Label::constants;
  return shared ? bytes : bytes * options_.lanes;
}

}  // namespace bench::training
