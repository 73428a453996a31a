#include "tests/training/convolution_cases.h"

#include <string>

namespace bench::training {
namespace {

constexpr std::int64_t kImages = 2;

/// Values that a kernel writes, or adds to.
View map_result(CaseTensors& tensors, std::int64_t rows, std::int64_t columns, Dtype dtype) {
  return tensors.result(tensors.values(rows, columns, dtype));
}

KernelCase patches(Dtype dtype, const PatchShape& shape, std::int64_t channels, bool add) {
  return {"patches of " + std::to_string(shape.kernel) + " every " + std::to_string(shape.stride) +
              " of " + std::to_string(shape.channels) + " channels" + (add ? ", added" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const std::int64_t pixels = kImages * shape.height * shape.width;
            const std::int64_t rows = kImages * shape.out_height() * shape.out_width();
            const View x = tensors.values(pixels, channels, dtype);
            set.convolution->gather(shape, x, map_result(tensors, rows, shape.columns(), dtype));
            set.convolution->scatter(shape, tensors.values(rows, shape.columns(), dtype),
                                     map_result(tensors, pixels, channels, dtype), add);
          }};
}

KernelCase group_norms(Dtype dtype, std::int64_t n, std::int64_t groups, bool relu, bool add) {
  return {std::string("group norm of ") + std::to_string(n) + (relu ? " with ReLU" : "") +
              (add ? ", added" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const std::int64_t rows = kImages * 35;
            const GroupNormShape shape{kImages, groups, relu, 1e-5};
            const View x = tensors.values(rows, n, dtype, 3.0);
            const View gain = tensors.values(1, n, dtype), bias = tensors.values(1, n, dtype);
            const View y = map_result(tensors, rows, n, dtype);
            const View statistics = map_result(tensors, kImages, 2 * groups, Dtype::f32);
            GroupNormBackward back{x, gain, bias, statistics, {}, {}, {}, {}, add, add, add};
            back.y_gradient = tensors.values(rows, n, dtype);
            back.gain_gradient = map_result(tensors, 1, n, dtype);
            back.bias_gradient = map_result(tensors, 1, n, dtype);
            back.x_gradient = map_result(tensors, rows, n, dtype);
            set.convolution->group_norm(shape, x, gain, bias, y, statistics);
            set.convolution->group_norm_backward(shape, back);
          }};
}

KernelCase enlarged(Dtype dtype, std::int64_t n, bool add) {
  return {"map enlarged, of " + std::to_string(n) + (add ? ", added" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const std::int64_t rows = kImages * 3 * 5;
            const View base = map_result(tensors, 4 * rows, n, dtype);
            set.convolution->upsample_add(5, tensors.values(rows, n, dtype), base,
                                          add ? base : map_result(tensors, 4 * rows, n, dtype));
            set.convolution->upsample_backward(5, tensors.values(4 * rows, n, dtype),
                                               map_result(tensors, rows, n, dtype), add);
          }};
}

KernelCase blocks(Dtype dtype, bool add) {
  return {std::string("blocks of rows") + (add ? ", added" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const BlockCopy copy{3, 5, 4, 0, 20, 4, 2 * 9 + 5, 11 * 9, 9};
            set.detection->copy_blocks(copy, tensors.values(15, 4, dtype),
                                       map_result(tensors, 33, 9, dtype), add);
          }};
}

KernelCase anchor_losses(Dtype dtype, double scale) {
  return {
      std::string("losses of anchors") + (scale > 0 ? ", trained" : ""),
      [=](const KernelSet& set, CaseTensors& tensors) {
        constexpr std::int64_t kAnchors = 150, kClasses = 5;
        const View predictions = map_result(tensors, kImages * kAnchors, kClasses + 4, dtype);
        const View classes = tensors.made(kImages * kAnchors, 1, Dtype::int32, [](auto i) {
          return static_cast<double>(random_bits(3, i) % 7) - 2.0;
        });
        const View boxes = tensors.values(kImages * kAnchors, 4, Dtype::f32);
        const View weights = tensors.constant(kImages, 1, Dtype::f32, 0.25);
        const View losses = map_result(tensors, kImages, 1, Dtype::f64);
        set.detection->detection_loss({}, predictions, {classes, boxes, weights}, scale, losses);
      }};
}

/// Integers, so that windows have several largest pixels.
KernelCase pooled(Dtype dtype, const PatchShape& window, bool add) {
  return {"pool of " + std::to_string(window.kernel) + " every " + std::to_string(window.stride) +
              " of " + std::to_string(window.channels) + (add ? ", added" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const std::int64_t pixels = kImages * window.height * window.width;
            const std::int64_t rows = kImages * window.out_height() * window.out_width();
            const View x = tensors.made(pixels, window.channels, dtype, [](auto i) {
              return static_cast<double>(random_bits(5, i) % 4) - 2.0;
            });
            const View y = map_result(tensors, rows, window.channels, dtype);
            set.classifier->max_pool(window, x, y);
            set.classifier->max_pool_backward(
                window, {x, y, tensors.values(rows, window.channels, dtype),
                         map_result(tensors, pixels, window.channels, dtype), add});
          }};
}

KernelCase means(Dtype dtype, std::int64_t n, bool add) {
  return {"means of rows of " + std::to_string(n) + (add ? ", added" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            constexpr std::int64_t kEach = 12;
            set.classifier->mean_rows(tensors.values(kImages * kEach, n, dtype),
                                      map_result(tensors, kImages, n, dtype));
            set.classifier->mean_rows_backward(tensors.values(kImages, n, dtype),
                                               map_result(tensors, kImages * kEach, n, dtype), add);
          }};
}

KernelCase rectified_sums(Dtype dtype, std::int64_t n, bool add) {
  return {"sums with ReLU of " + std::to_string(n) + (add ? ", added" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const View a = tensors.values(3, n, dtype), b = tensors.values(3, n, dtype);
            const View y = map_result(tensors, 3, n, dtype);
            set.classifier->add_relu(a, b, y);
            set.classifier->add_relu_backward(y, tensors.values(3, n, dtype),
                                              map_result(tensors, 3, n, dtype), add);
          }};
}

KernelCase smoothed_losses(Dtype dtype, std::int64_t n, double scale) {
  return {"smoothed losses of " + std::to_string(n) + (scale > 0 ? ", trained" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const View logits = map_result(tensors, 9, n, dtype);
            const View targets = tensors.made(9, 1, Dtype::int32, [n](auto i) {
              return static_cast<double>(random_bits(6, i) % static_cast<std::uint64_t>(n + 1)) -
                     1.0;
            });
            set.classifier->smoothed_cross_entropy(logits, targets, 0.1, scale,
                                                   map_result(tensors, 9, 1, Dtype::f64));
          }};
}

}  // namespace

std::vector<KernelCase> convolution_cases(Dtype dtype) {
  std::vector<KernelCase> cases;
  for (const bool add : {false, true}) {
    cases.push_back(patches(dtype, {7, 5, 3, 2, 1, 0, 3}, 3, add));
    cases.push_back(patches(dtype, {6, 9, 3, 1, 1, 0, 16}, 16, add));
    cases.push_back(patches(dtype, {8, 8, 7, 2, 3, 8, 8}, 24, add));
    cases.push_back(patches(dtype, {5, 5, 1, 2, 0, 0, 8}, 8, add));
    for (const bool relu : {false, true}) {
      cases.push_back(group_norms(dtype, 6, 2, relu, add));
      cases.push_back(group_norms(dtype, 32, 8, relu, add));
    }
    for (const std::int64_t n : {7, 16}) cases.push_back(enlarged(dtype, n, add));
    cases.push_back(blocks(dtype, add));
    cases.push_back(pooled(dtype, {7, 6, 3, 2, 1, 0, 16}, add));
    cases.push_back(pooled(dtype, {5, 4, 2, 1, 0, 0, 7}, add));
    for (const std::int64_t n : {7, 32}) {
      cases.push_back(means(dtype, n, add));
      cases.push_back(rectified_sums(dtype, n, add));
    }
  }
  for (const double scale : {0.0, 1.0 / 64}) {
    cases.push_back(anchor_losses(dtype, scale));
    for (const std::int64_t n : {10, 200}) cases.push_back(smoothed_losses(dtype, n, scale));
  }
  return cases;
}

}  // namespace bench::training
