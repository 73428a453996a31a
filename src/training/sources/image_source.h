// Images with captions, by number: a sample is a function of (split, index) alone, so ranks and
// threads may share one source and read in any order. A source knows the best velocity that any
// model of rectified flow can predict, from which the lowest loss on its evaluation samples
// follows.
//
// Rectified flow (arXiv 2209.03003), in MLPerf's order: between an image x at t = 0 and noise e at
// t = 1 lies x_t = (1 - t) x + t e; a model sees x_t, t and the caption, and predicts e - x.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "training/sources/random.h"

namespace bench::training {

struct ImageShape {
  int side = 8;      // pixels of rows and columns
  int channels = 4;  // of a pixel
  int words = 3;     // of a caption

  std::size_t elements() const {
    return static_cast<std::size_t>(side) * static_cast<std::size_t>(side) *
           static_cast<std::size_t>(channels);
  }
  bool operator==(const ImageShape&) const = default;
};

/// The memory for one sample: pixels row by row, channels innermost.
struct ImageSample {
  std::span<std::int32_t> words;  // of the caption
  std::span<float> image, noise;
  double time = 0.0;  // t: in [0, 1) for training; evaluation samples take 0, 1/8, ... 7/8 by turns
};

/// Times of evaluation samples, as in MLPerf's benchmark of FLUX.1.
inline constexpr int kTimes = 8;

class ImageSource {
 public:
  ImageSource() = default;
  ImageSource(const ImageSource&) = delete;
  ImageSource& operator=(const ImageSource&) = delete;
  virtual ~ImageSource() = default;

  virtual const ImageShape& shape() const = 0;
  virtual int vocabulary() const = 0;  // words are smaller
  /// Number of samples; none if endless.
  virtual std::optional<std::uint64_t> size(Split split) const = 0;
  virtual bool has_oracle() const = 0;
  /// Fills the spans and sets the time. Throws Error(internal) for spans of other lengths.
  virtual void read(Split split, std::uint64_t index, ImageSample& sample) const = 0;
  /// E[noise - image | x_t, t, caption], by element.
  virtual void best_velocity(std::span<const std::int32_t> words, std::span<const float> x_t,
                             double time, std::span<double> velocity) const = 0;
};

}  // namespace bench::training
