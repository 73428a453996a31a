// How often a classifier's answers are the labels, next to how often the true classes are.
#pragma once

#include <array>
#include <cstdint>

#include "training/pictures/picture_source.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// Top-1 accuracy. The gap is what it lacks of the true classes', or of 1 where nobody knows these.
class ImageEvaluation final : public Evaluation {
 public:
  /// All must outlive it.
  ImageEvaluation(const PictureSource& source, const Model& model)
      : source_(source), logits_(model.outputs[0]) {}

  void add(const Lane& lane, std::uint64_t first, std::int64_t count) override;
  Quality finish(Group& group) override;

 private:
  enum Counted : std::size_t { kPictures, kRight, kInFive, kTrueClass, kRightLabels, kLoss, kAll };

  const PictureSource& source_;
  Var logits_;
  std::array<double, kAll> counts_ = {};
};

}  // namespace bench::training
