// Kernels of convolutional networks, over images in NHWC: a tensor of images has a row per pixel,
// image by image, and a column per channel. A convolution is a GEMM of gathered patches.
#pragma once

#include <cstdint>

#include "training/kernels/view.h"

namespace bench::training {

/// Square patches of some channels of an image, one for each pixel of the result.
struct PatchShape {
  std::int64_t height = 0, width = 0;  // of the image
  std::int64_t kernel = 1, stride = 1, padding = 0;
  std::int64_t first_channel = 0;
  std::int64_t channels = 0;  // from there on

  std::int64_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::int64_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
  /// Elements of a patch: rows of `kernel` pixels, channels innermost.
  std::int64_t columns() const { return kernel * kernel * channels; }
};

/// A norm over the pixels of an image and the channels of a group (arXiv 1803.08494), optionally
/// followed by a ReLU.
struct GroupNormShape {
  std::int64_t images = 0;
  std::int64_t groups = 0;  // divides the channels
  bool relu = false;
  double epsilon = 1e-5;
};

/// Gradients are added if their `add` is set, else written.
struct GroupNormBackward {
  View x, gain, bias;  // arguments of forward
  View statistics;     // result of forward
  View y_gradient;
  View x_gradient;                    // may be y_gradient
  View gain_gradient, bias_gradient;  // may be absent
  bool add_x = false, add_gain = false, add_bias = false;
};

class ConvolutionKernels {
 public:
  virtual ~ConvolutionKernels() = default;
  /// patches[image x out pixels, columns()] from x [image x pixels, all channels]; zero outside.
  virtual void gather(const PatchShape& shape, View x, View patches) = 0;
  /// The transpose: each element of x in these channels becomes the sum, or grows by the sum, of
  /// the patch elements taken from it.
  virtual void scatter(const PatchShape& shape, View patches, View x, bool add) = 0;
  /// y = (x - mean) r gain + bias, then max(y, 0) if asked; statistics [images, 2 groups] are mean
  /// and r = 1/sqrt(var + epsilon) of each group.
  virtual void group_norm(const GroupNormShape& shape, View x, View gain, View bias, View y,
                          View statistics) = 0;
  virtual void group_norm_backward(const GroupNormShape& shape, const GroupNormBackward& what) = 0;
  /// y = base + x with every pixel repeated in two rows and two columns; x has `width` columns of
  /// pixels. y may be base.
  virtual void upsample_add(std::int64_t width, View x, View base, View y) = 0;
  virtual void upsample_backward(std::int64_t width, View y_gradient, View x_gradient,
                                 bool add) = 0;
};

}  // namespace bench::training
