// Images whose distribution given their caption is a known mixture of normal distributions.
//
// A caption is a list of phrases of three words: colour, shape, place. Each phrase draws its shape
// (a pattern of pixels) in its colour (a vector over channels) at its place; the rest of a
// caption is padding. Each image has one of a few styles, equally often:
// a texture that repeats over the whole image, which the caption does not mention. Independent
// normal noise is added to every element:
//
//   x = contrast / sqrt(phrases) x sum over phrases of shape (x) colour  +  texture of the style
//       + sigma z
//
// So a model must take from the caption what is drawn where, and from the noisy image its style.
#pragma once

#include <vector>

#include "training/sources/image_source.h"

namespace bench::training {

struct ImageLaw {
  ImageShape shape = {};
  int colours = 6, shapes = 6;
  int places = 3;      // along rows and along columns
  int shape_side = 4;  // pixels
  int styles = 8;
  int tile = 2;            // pixels of rows and columns after which a style's texture repeats
  double contrast = 1.0;   // root mean square of a shape in its place
  double texture = 0.4;    // root mean square of a style
  double sigma = 0.4;      // of the noise of an element
  std::uint64_t law = 11;  // seed of shapes, colours, styles, and the evaluation samples
  std::uint64_t seed = 1;  // of the training samples

  int phrases() const { return shape.words / 3; }
};

class CaptionedImages final : public ImageSource {
 public:
  /// Throws Error(usage) for a law without a phrase, word, place or style, and for shapes larger
  /// than the image.
  explicit CaptionedImages(const ImageLaw& law);

  const ImageShape& shape() const override { return law_.shape; }
  /// Colours, shapes, places and the word without meaning.
  int vocabulary() const override;
  std::optional<std::uint64_t> size(Split) const override { return std::nullopt; }
  bool has_oracle() const override { return true; }
  void read(Split split, std::uint64_t index, ImageSample& sample) const override;
  void best_velocity(std::span<const std::int32_t> words, std::span<const float> x_t, double time,
                     std::span<double> velocity) const override;
  /// What a caption says of its images: their mean without a texture.
  std::vector<double> described_by(std::span<const std::int32_t> words) const;
  /// Of all styles, one after another.
  std::span<const double> textures() const { return textures_; }

 private:
  void add_phrase(const std::int32_t* words, std::span<double> image) const;
  ImageLaw law_;
  std::vector<double> colours_, patterns_, textures_;  // one after another
};

/// E[noise - image | x_t] if each image is one of `means` (one after another), all equally often,
/// plus independent normal noise of standard deviation `sigma` (docs/workloads/flow.md).
void velocity_of_mixture(std::span<const double> means, double sigma, std::span<const float> x_t,
                         double time, std::span<double> velocity);

}  // namespace bench::training
