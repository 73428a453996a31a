#include "training/workloads/flow_evaluation.h"

#include <fmt/format.h>

namespace bench::training {
namespace {

double best_loss(const ImageSource& source, std::uint64_t index) {
  FlowSample sample(source.shape());
  sample.read(source, Split::evaluation, index);
  std::vector<float> noisy(source.shape().elements());
  for (std::size_t i = 0; i < noisy.size(); ++i) noisy[i] = sample.noisy(i);
  std::vector<double> best(noisy.size());
  source.best_velocity(sample.words(), noisy, sample.time(), best);
  double sum = 0.0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const double off = best[i] - static_cast<double>(sample.velocity(i));
    sum += off * off;
  }
  return sum / static_cast<double>(best.size());
}

}  // namespace

void FlowSample::read(const ImageSource& source, Split split, std::uint64_t index) {
  ImageSample sample{words_, image_, noise_};
  source.read(split, index, sample);
  time_ = sample.time;
}

double BestLosses::of(const ImageSource& source, std::uint64_t index) {
  const auto [at, is_new] = losses_.try_emplace(index, 0.0);
  if (is_new) at->second = best_loss(source, index);
  return at->second;
}

void FlowEvaluation::add(const Lane& lane, std::uint64_t first, std::int64_t count) {
  const double* losses = lane.view(losses_).as<double>();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t index = first + static_cast<std::uint64_t>(i);
    Sums& sums = sums_.at(index % kTimes);
    double loss = 0.0;
    for (std::int64_t patch = 0; patch < patches_; ++patch) loss += *losses++;
    sums[kLoss] += loss / static_cast<double>(patches_);
    sums[kFloor] += best_.of(source_, index);
    sums[kCount] += 1.0;
  }
}

Quality FlowEvaluation::finish(Group& group) {
  group.sum(std::span(sums_.front().data(), sums_.size() * sums_.front().size()));
  Quality quality;
  double times = 0.0;
  for (std::size_t time = 0; time < sums_.size(); ++time) {
    const Sums& sums = sums_.at(time);
    if (sums[kCount] == 0.0) continue;
    const double loss = sums[kLoss] / sums[kCount], floor = sums[kFloor] / sums[kCount];
    times += 1.0;
    quality.native += loss;
    quality.floor += floor;
    quality.parts.emplace_back(fmt::format("loss_t{}_{}", time, kTimes), loss);
    quality.parts.emplace_back(fmt::format("gap_t{}_{}", time, kTimes), loss - floor);
  }
  quality.native /= times;
  quality.floor /= times;
  quality.gap = quality.native - quality.floor;
  return quality;
}

}  // namespace bench::training
