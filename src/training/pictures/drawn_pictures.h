// Drawn pictures of classes: one polygon with a texture on a noisy background, without jagged
// edges. A class is an outline, a texture and, if there are several, the texture of the background;
// place, size, turn, stretch and colours are random. What a classifier can reach is known, because
// labels are wrong with a known probability:
//
//   label = the class, or with probability `wrong` any class, each equally often
//
// in training and in evaluation. Outlines and textures are their own mirror images up to a turn, so
// that no two classes differ by mirroring.
#pragma once

#include "training/detection/box.h"
#include "training/pictures/picture_source.h"
#include "training/sources/random.h"

namespace bench::training {

struct PictureLaw {
  int outlines = 1, textures = 1, grounds = 1;  // their product is the number of classes
  int side = 32;                                // pixels of rows and columns
  double inner = 0.875;                         // share of the side in which the polygon lies
  double smallest = 0.45, largest = 0.65;       // its diameter as a share of the side
  double finer = 1.6;                           // waves of a texture to those of the one before
  double contrast = 1.0;                        // of its colour, per channel
  double background = 0.2;                      // amplitude of the background's waves
  double noise = 0.2;                           // standard deviation of every element
  double wrong = 0.1;      // probability that a label is drawn from all classes
  std::uint64_t law = 17;  // seed of the evaluation samples
  std::uint64_t seed = 1;  // of the training samples

  int classes() const { return outlines * textures * grounds; }
  /// Top-1 accuracy of the classifier that knows every picture's class: no other has more.
  double best_accuracy() const { return 1.0 - wrong + wrong / classes(); }
};

class DrawnPictures final : public PictureSource {
 public:
  /// Throws Error(usage) for a law without classes or pixels, with more outlines or textures than
  /// there are, polygons that do not fit, and a probability that is none.
  explicit DrawnPictures(const PictureLaw& law);

  const PictureLaw& law() const { return law_; }
  int classes() const override { return law_.classes(); }
  std::optional<std::uint64_t> size(Split) const override { return std::nullopt; }
  bool has_oracle() const override { return true; }
  PictureLabels labels(Split split, std::uint64_t index) const override;
  void read(Split split, std::uint64_t index, const PlaceOfCrop& place,
            PictureBuffer& part) const override;
  /// Where the polygon of a picture is, in pixels.
  Box box(Split split, std::uint64_t index) const;

 private:
  RandomStream stream(Split split, std::uint64_t index) const;
  PictureLaw law_;
};

}  // namespace bench::training
