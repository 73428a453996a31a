// What a model of rectified flow sees of an image, and its losses against those of the best
// velocity.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "training/sources/image_source.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// One sample of a source.
class FlowSample {
 public:
  explicit FlowSample(const ImageShape& shape)
      : words_(static_cast<std::size_t>(shape.words)),
        image_(shape.elements()),
        noise_(shape.elements()) {}

  void read(const ImageSource& source, Split split, std::uint64_t index);
  std::span<const std::int32_t> words() const { return words_; }
  std::span<const float> image() const { return image_; }
  std::span<const float> noise() const { return noise_; }
  double time() const { return time_; }
  /// Element i of the noisy image, and of the velocity.
  float noisy(std::size_t i) const {
    return static_cast<float>(1.0 - time_) * image_[i] + static_cast<float>(time_) * noise_[i];
  }
  float velocity(std::size_t i) const { return noise_[i] - image_[i]; }

 private:
  std::vector<std::int32_t> words_;
  std::vector<float> image_, noise_;
  double time_ = 0.0;
};

/// The loss of the best velocity on each evaluation sample, computed once.
class BestLosses {
 public:
  double of(const ImageSource& source, std::uint64_t index);

 private:
  std::unordered_map<std::uint64_t, double> losses_ = {};
};

/// MLPerf's validation loss of FLUX.1: mean losses of the samples of each time, averaged over the
/// times. Parts: loss and gap of each time.
class FlowEvaluation final : public Evaluation {
 public:
  /// All must outlive it. The model has `patches` losses per sample.
  FlowEvaluation(const ImageSource& source, BestLosses& best, const Model& model,
                 std::int64_t patches)
      : source_(source), best_(best), losses_(model.losses), patches_(patches) {}

  void add(const Lane& lane, std::uint64_t first, std::int64_t count) override;
  /// Times without a sample are left out.
  Quality finish(Group& group) override;

 private:
  enum { kLoss, kFloor, kCount };
  using Sums = std::array<double, 3>;

  const ImageSource& source_;
  BestLosses& best_;
  Var losses_;
  std::int64_t patches_;
  std::array<Sums, kTimes> sums_ = {};
};

}  // namespace bench::training
