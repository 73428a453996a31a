// Operators of convolutional networks, in addition to those of linear.h. Maps are images in NHWC:
// a row per pixel, image by image, and a column per channel.
// All operators check the shapes of their inputs and throw Error(internal) with both.
#pragma once

#include "training/engine/graph.h"

namespace bench::training {

/// A tensor [images height width, channels] as images.
struct Map {
  Var values = {};
  std::int64_t height = 0, width = 0;

  std::int64_t pixels() const { return height * width; }
  std::int64_t channels() const { return values.shape().columns(); }
  std::int64_t images() const { return values.shape().rows() / pixels(); }
};

struct ConvolutionOptions {
  std::int64_t kernel = 3;  // rows and columns
  std::int64_t stride = 1;
  std::int64_t padding = 1;  // zeros around the image
  std::int64_t groups = 1;   // of channels that see only each other
  Var bias = {};             // [1, out], or absent; without groups only
};

/// y[pixel] = the sum over the window of x[pixel'] w[tap]. w [kernel kernel in, out / groups]: for
/// each group its taps, row by row, each with the group's input channels. The GEMM runs over
/// patches gathered in scratch memory, some images at a time. Forward FLOPs: 2 pixels kernel^2 in
/// out / groups.
Map convolution(const Map& x, Var w, const ConvolutionOptions& options);

/// y = (x - mean) gain / sqrt(variance + epsilon) + bias over the pixels of an image and the
/// channels of a group (arXiv 1803.08494), then max(y, 0) if `relu`; gain and bias [1, channels].
Map group_norm(const Map& x, Var gain, Var bias, std::int64_t groups, bool relu,
               double epsilon = 1e-5);

/// base + x with each of its pixels in two rows and two columns; base is twice as high and wide.
Map upsample_add(const Map& x, const Map& base);

}  // namespace bench::training
