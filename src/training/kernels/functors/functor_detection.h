// The group of object detectors; see functor_kernels.h.
#pragma once

#include <math.h>

#include "training/kernels/detection_kernels.h"
#include "training/kernels/functors/functor_norm.h"
#include "training/kernels/functors/portable.h"

namespace bench::training {

/// Row: block x rows + row.
template <class T>
struct CopyBlocks {
  BlockCopy copy;
  const T* from;
  T* to;
  bool add;
  BENCH_BOTH std::int64_t columns() const { return copy.columns; }
  template <int width>
  BENCH_BOTH void at(std::int64_t index, std::int64_t column) const {
    const std::int64_t block = index / copy.rows, row = index % copy.rows;
    T* out = to + copy.to_first + block * copy.to_block + row * copy.to_row + column;
    auto sum = load_if<width>(add, out);
    const auto pack = load_pack<width>(from + copy.from_first + block * copy.from_block +
                                       row * copy.from_row + column);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      sum.at[k] =
          add ? T(static_cast<float>(sum.at[k]) + static_cast<float>(pack.at[k])) : pack.at[k];
    store_pack(out, sum);
  }
};

/// A loss and its slope.
struct LossAndSlope {
  float loss = 0.0f, slope = 0.0f;
};

/// -a (1 - q)^2 log q, q the probability of the truth; that of z is p = 1 / (1 + e^-z).
BENCH_BOTH inline LossAndSlope focal_loss(float alpha, float z, bool positive) {
  const float share = positive ? alpha : 1.0f - alpha, sign = positive ? 1.0f : -1.0f;
  const float s = sign * z, small = expf(-fabsf(s));
  const float minus_log = log1pf(small) + (s < 0.0f ? -s : 0.0f);
  const float q = (s < 0.0f ? small : 1.0f) / (1.0f + small), rest = 1.0f - q;
  return {share * rest * rest * minus_log,
          -sign * share * rest * rest * (rest + 2.0f * q * minus_log)};
}

BENCH_BOTH inline LossAndSlope smooth_loss(float beta, float weight, float off) {
  const float size = fabsf(off);
  if (size < beta) return {weight * off * off / (2.0f * beta), weight * off / beta};
  return {weight * (size - beta / 2.0f), off < 0.0f ? -weight : weight};
}

/// Unit (image, 0).
template <class T>
struct DetectionLosses {
  T* predictions;
  const std::int32_t* wanted;
  const float *boxes, *weights;
  double* losses;
  std::int64_t anchors, classes;
  float alpha, beta, box_weight, gradient_scale;  // gradient_scale 0: losses alone

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t image, std::int64_t, float*) const {
    const std::int64_t n = classes + 4;
    typename Block::template Per<double> sums;
    block.each([&](int thread) {
      double sum = 0.0;
      for (std::int64_t i = thread; i < anchors * n; i += Block::kThreads) {
        T& made = predictions[image * anchors * n + i];
        const LossAndSlope of = element(image * anchors + i / n, i % n, static_cast<float>(made));
        sum += static_cast<double>(of.loss);
        if (gradient_scale != 0.0f) made = T(gradient_scale * weights[image] * of.slope);
      }
      sums(thread) = sum;
    });
    const double sum = block.sum(sums);
    block.each([&](int thread) {
      if (thread == 0) losses[image] = static_cast<double>(weights[image]) * sum;
    });
  }

 private:
  BENCH_BOTH LossAndSlope element(std::int64_t anchor, std::int64_t column, float made) const {
    const std::int32_t truth = wanted[anchor];
    if (truth == kIgnored || (truth < 0 && column >= classes)) return {};
    if (column < classes) return focal_loss(alpha, made, truth == column);
    return smooth_loss(beta, box_weight, made - boxes[anchor * 4 + column - classes]);
  }
};

template <class T, class Launch>
class FunctorDetection final : public DetectionKernels {
 public:
  explicit FunctorDetection(Launch launch) : launch_(launch) {}
  void copy_blocks(const BlockCopy& copy, View from, View to, bool add) override {
    launch_.template rows<1>(CopyBlocks<T>{copy, from.as<T>(), to.as<T>(), add},
                             copy.blocks * copy.rows);
  }
  void detection_loss(const DetectionLossShape& shape, View predictions,
                      const AnchorTargets& targets, double gradient_scale, View losses) override {
    launch_.units(
        DetectionLosses<T>{predictions.as<T>(), targets.classes.as<std::int32_t>(),
                           targets.boxes.as<float>(), targets.weights.as<float>(),
                           losses.as<double>(), predictions.rows / losses.rows,
                           predictions.columns - 4, static_cast<float>(shape.alpha),
                           static_cast<float>(shape.box_beta), static_cast<float>(shape.box_weight),
                           static_cast<float>(gradient_scale)},
        losses.rows, 1, 0);
  }

 private:
  Launch launch_;
};

}  // namespace bench::training
