// Drawn scenes: polygons with a texture on a textured, noisy background, without jagged edges,
// later objects in front of earlier ones. A class is a pair of outline and texture. What a detector
// can reach is known, because the labels are not the objects' boxes:
//
//   label edge = edge of the object + jitter x its width (or height) x z,   z normal, independent
//
// in training and in evaluation. Objects of which less than a share is visible are labelled as
// regions to ignore.
#pragma once

#include "training/sources/outline.h"
#include "training/sources/scene_source.h"

namespace bench::training {

struct SceneLaw {
  SceneShape shape = {};
  int textures = 1;                        // of the classes; outlines are shape.classes / textures
  int least = 1, most = 4;                 // objects of an image
  double smallest = 14.0, largest = 30.0;  // their diameter in pixels, before they are stretched
  double contrast = 1.0;                   // of objects and background, per channel
  double background = 0.3;                 // amplitude of the background's texture
  double noise = 0.2;                      // standard deviation of every element
  double jitter = 0.04;                    // standard deviation of a label's edge
  double visible = 0.7;                    // less is ignored
  std::uint64_t law = 13;                  // seed of the evaluation samples
  std::uint64_t seed = 1;                  // of the training samples

  int outlines() const { return shape.classes / textures; }
};

class DrawnScenes final : public SceneSource {
 public:
  /// Throws Error(usage) for a law without pixels, objects or classes, with more outlines than
  /// there are, objects larger than half of the image, and jitter that could turn a box inside out.
  explicit DrawnScenes(const SceneLaw& law);

  const SceneShape& shape() const override { return law_.shape; }
  std::optional<std::uint64_t> size(Split) const override { return std::nullopt; }
  bool has_oracle() const override { return true; }
  void read(Split split, std::uint64_t index, Scene& scene) const override;

 private:
  SceneLaw law_;
};

}  // namespace bench::training
