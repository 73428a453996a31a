// Pictures with a class, by number: a sample is a function of (split, index) alone, so ranks and
// threads may share one source and read in any order. Pictures are drawn, or decoded from files by
// a source that knows their format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "training/pictures/picture.h"
#include "training/sources/finite.h"
#include "training/sources/random.h"

namespace bench::training {

struct PictureLabels {
  int label = 0;                  // what a model is trained and judged with
  std::optional<int> truth = {};  // what the picture shows; none where nobody knows it
};

/// The memory for a part of a picture.
struct PictureBuffer {
  std::vector<std::uint8_t> pixels = {};  // four bytes each, by rows
  int width = 0, height = 0;

  void resize(const Region& region) {
    width = region.width;
    height = region.height;
    pixels.resize(std::size_t{4} * static_cast<std::size_t>(width) *
                  static_cast<std::size_t>(height));
  }
  Picture picture() const {
    return {pixels.data(), std::size_t{4} * static_cast<std::size_t>(width), width, height};
  }
};

/// Where to cut a picture of this size.
using PlaceOfCrop = std::function<Region(ImageSize)>;

class PictureSource {
 public:
  PictureSource() = default;
  PictureSource(const PictureSource&) = delete;
  PictureSource& operator=(const PictureSource&) = delete;
  virtual ~PictureSource() = default;

  virtual int classes() const = 0;  // labels are smaller
  /// Number of samples; none if endless.
  virtual std::optional<std::uint64_t> size(Split split) const = 0;
  /// Whether every sample has its truth.
  virtual bool has_oracle() const = 0;
  virtual PictureLabels labels(Split split, std::uint64_t index) const = 0;
  /// The pixels of the region that `place` gives, as if the whole picture had been made.
  virtual void read(Split split, std::uint64_t index, const PlaceOfCrop& place,
                    PictureBuffer& part) const = 0;
};

class FinitePictures final : public FiniteSource<PictureSource> {
 public:
  using FiniteSource::FiniteSource;
  int classes() const override { return source_.classes(); }
  PictureLabels labels(Split split, std::uint64_t index) const override {
    return source_.labels(split, index_at(split, index));
  }
  void read(Split split, std::uint64_t index, const PlaceOfCrop& place,
            PictureBuffer& part) const override {
    source_.read(split, index_at(split, index), place, part);
  }
};

}  // namespace bench::training
