// What pictures and scenes are drawn with: random numbers one after another, plane waves, filled
// outlines without jagged edges. Sines are polynomials (gaussian.h), so that every host draws the
// same bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "training/sources/outline.h"
#include "training/sources/random.h"

namespace bench::training {

/// Uniform numbers of a stream, one after another.
class Drawing {
 public:
  Drawing(RandomStream stream, std::uint64_t first) : stream_(stream), next_(first) {}
  double between(double low, double high) {
    return low + (high - low) * uniform(stream_.bits(next_++));
  }
  int below_count(int count) {
    return static_cast<int>(below(stream_.bits32(next_++), static_cast<std::uint32_t>(count)));
  }

 private:
  RandomStream stream_;
  std::uint64_t next_;
};

/// Sine and cosine of any number of quarters of a turn.
std::pair<double, double> sine_cosine_of(double turn);

/// A plane wave: the sine of turns along one direction.
struct Wave {
  double x = 0.0, y = 0.0, phase = 0.0;  // quarters of a turn per pixel, and at the origin
  double at(double px, double py) const { return sine_cosine_of(x * px + y * py + phase).first; }
};

/// Of this period in pixels, in a random direction.
Wave drawn_wave(Drawing& draw, double period);

/// Adds a wave over a whole square image of one channel: sin(a + b) from the sines and cosines of
/// rows and columns.
void add_wave(const Wave& wave, double amplitude, std::vector<double>& values);

/// What an object is filled with: a colour, whose brightness stripes or checks may change.
struct Fill {
  std::array<double, 8> colour = {};  // by channel
  Wave along = {}, across = {};
  bool plain = true, checks = false;
  double depth = 0.6;  // of the waves

  /// How many times its colour an object has at this pixel.
  double brightness(double x, double y) const {
    const double wave = plain ? 0.0 : along.at(x, y) * (checks ? across.at(x, y) : 1.0);
    return 1.0 + depth * wave;
  }
};

/// What an object covers: shares of the pixels in a rectangle of a square image.
struct Coverage {
  int left, top, right, bottom;  // pixels
  std::vector<float> shares = {};

  Coverage(const Outline& outline, int side);
  /// work(pixel, share)
  template <class Work>
  void each(int side, const Work& work) const {
    std::size_t at = 0;
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x, ++at)
        if (shares[at] > 0.0f)
          work(static_cast<std::size_t>(y) * static_cast<std::size_t>(side) +
                   static_cast<std::size_t>(x),
               shares[at]);
  }
};

}  // namespace bench::training
