// How well images follow the known distribution of images for their captions
// (training/sources/captioned_images.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "probes/image_inference/image_model.h"
#include "training/workloads/flow.h"

namespace bench {

class CaptionQuality {
 public:
  explicit CaptionQuality(const training::FlowSetting& setting);

  /// The squared distance of an image from the nearest mean of its caption's styles, per element
  /// and in variances: 1 on average for images of the distribution, more for others, less for
  /// images without their noise. `image`: rows of patches.
  double distance(std::span<const std::int32_t> words, std::span<const double> image) const;
  /// The squared distance of two images, per element and in variances.
  double between(std::span<const double> a, std::span<const double> b) const;
  /// What Euler's steps make of a sample's noise with the best velocity at each.
  std::vector<double> best_image(const ImageSample& sample, std::int64_t steps) const;

 private:
  /// Of an image's squared distance, that of an element.
  double in_variances(double squares) const;
  /// Of element i of an image, its place in rows of patches.
  std::size_t place_in_patches(std::size_t element) const;

  training::FlowShape shape_;
  training::ImageLaw law_;
  training::CaptionedImages source_;
};

}  // namespace bench
