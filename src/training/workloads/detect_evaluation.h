// The mean average precision of a detector's answers, next to that of the objects' true boxes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "training/detection/average_precision.h"
#include "training/sources/scene_source.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// What the evaluation images are labelled with, and how well their true boxes do; each image is
/// read once.
class KnownScenes {
 public:
  /// Images 0 to count - 1; valid until the next call with another count.
  const std::vector<JudgedImage>& labels(const SceneSource& source, std::uint64_t count);
  /// Of an answer that gives each object that counts its true box and class.
  const MeanPrecision& best(const SceneSource& source, std::uint64_t count);

 private:
  std::vector<JudgedImage> labels_ = {}, answered_ = {};
  std::map<std::uint64_t, MeanPrecision> best_ = {};
};

/// The boxes that predictions of one image mean: those of a score above kLeastScore, after
/// suppression.
std::vector<Detection> read_detections(View predictions, std::int64_t first_row,
                                       const std::vector<Box>& anchors);
inline constexpr double kLeastScore = 0.05;

/// COCO's mAP. The gap is what it lacks of the best answer's.
class DetectEvaluation final : public Evaluation {
 public:
  /// All must outlive it.
  DetectEvaluation(const SceneSource& source, KnownScenes& known, const Model& model,
                   const std::vector<Box>& anchors)
      : source_(source), known_(known), predictions_(model.outputs[0]), anchors_(anchors) {}

  void add(const Lane& lane, std::uint64_t first, std::int64_t count) override;
  Quality finish(Group& group) override;

 private:
  const SceneSource& source_;
  KnownScenes& known_;
  Var predictions_;
  const std::vector<Box>& anchors_;
  std::vector<float> found_ = {};  // one detection after another, of all images of this rank
  std::int64_t images_ = 0;
};

}  // namespace bench::training
