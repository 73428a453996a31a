// Resizes an image with an antialiasing triangle filter: the filter widens as the image shrinks, so
// that every pixel counts. As Pillow's BILINEAR and torchvision's antialias=True: output pixel i is
// at (i + 1/2) * scale, the filter reaches max(1, scale) to either side, weights are normalised,
// first along rows, then along columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/pictures/picture.h"
#include "training/sources/random.h"

namespace bench::training {

/// A crop of random area and shape that is then resized (torchvision's RandomResizedCrop), mirrored
/// half of the time.
struct RandomCrop {
  Region region = {};
  bool flip = false;
};

/// An area of `least_area` (as the references of MLPerf have it, 8 %) to 100 % of the image, width
/// over height of 3/4 to 4/3 (uniform in the logarithm), anywhere in the image; if ten draws do not
/// fit, the largest such crop at its centre. Depends only on stream and size.
RandomCrop random_resized_crop(RandomStream stream, ImageSize size, double least_area = 0.08);

/// The centred square of this share of the shorter side, as for evaluation; never mirrored.
RandomCrop centre_crop(ImageSize size, double share = 1.0);

/// The weights of one axis, the same number for each output.
struct FilterAxis {
  int taps = 0;
  std::vector<int> first = {};      // by output: the first input
  std::vector<float> weights = {};  // by output and tap; they sum to 1
};

/// `mirrored`: output 0 is the last.
FilterAxis make_axis(int inputs, int outputs, bool mirrored);

/// For one thread.
class Resampler {
 public:
  /// Throws Error(internal) for a size that is not positive.
  explicit Resampler(int size);

  /// `out`: size x size pixels of four bytes by rows, each rounded to nearest; `flip` mirrors left
  /// and right. Values are not rounded between the two passes, so they may differ from Pillow's by
  /// one.
  void resize(const Picture& picture, bool flip, std::span<std::uint8_t> out);
  int size() const { return size_; }

 private:
  void pair_up(FilterAxis& axis);

  int size_;
  std::vector<float> row_;   // one input row as numbers
  std::vector<float> rows_;  // the rows that the second pass needs, resized along x
  std::vector<float> wide_;  // weights of the first pass, as its kernel takes them
};

/// size x size pixels of four bytes to three planes of f32: (value / 255 - mean) / deviation by
/// colour, with ImageNet's means (0.485, 0.456, 0.406) and deviations (0.229, 0.224, 0.225).
void normalise(std::span<const std::uint8_t> pixels, std::span<float> planes);

/// The same pixels to three planes of bytes.
void to_planes(std::span<const std::uint8_t> pixels, std::span<std::uint8_t> planes);

}  // namespace bench::training
