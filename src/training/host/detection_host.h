// Joined predictions and the losses of anchors on a CPU.
#pragma once

#include <cmath>

#include "training/host/vector.h"
#include "training/kernels/detection_kernels.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Detection final : public DetectionKernels {
 public:
  void copy_blocks(const BlockCopy& copy, View from, View to, bool add) override {
    for (Index block = 0; block < copy.blocks; ++block)
      for (Index row = 0; row < copy.rows; ++row) {
        const T* in =
            from.as<T>() + copy.from_first + block * copy.from_block + row * copy.from_row;
        T* out = to.as<T>() + copy.to_first + block * copy.to_block + row * copy.to_row;
        each_vector<T>(copy.columns,
                       [=](auto at) { at.put(out, add ? at(out) + at(in) : at(in)); });
      }
  }

  void detection_loss(const DetectionLossShape& shape, View predictions,
                      const AnchorTargets& targets, double gradient_scale, View losses) override {
    const Index images = losses.rows, anchors = predictions.rows / images;
    const Index classes = predictions.columns - 4;
    for (Index image = 0; image < images; ++image) {
      const T weight = targets.weights.as<T>()[image];
      const T scale = static_cast<T>(gradient_scale) * weight;
      double sum = 0.0;
      for (Index row = image * anchors; row < (image + 1) * anchors; ++row) {
        T* made = predictions.as<T>() + row * predictions.columns;
        const std::int32_t wanted = targets.classes.as<std::int32_t>()[row];
        sum += anchor_loss(shape, made, classes, wanted, targets.boxes.as<T>() + row * 4,
                           gradient_scale == 0.0 ? nullptr : &scale);
      }
      losses.as<double>()[image] = static_cast<double>(weight) * sum;
    }
  }

 private:
  static double anchor_loss(const DetectionLossShape& shape, T* made, Index classes,
                            std::int32_t wanted, const T* box, const T* scale) {
    double sum = 0.0;
    for (Index c = 0; c < classes + 4; ++c) {
      T slope{};
      if (wanted != kIgnored && c < classes)
        sum += static_cast<double>(focal(static_cast<T>(shape.alpha), made[c], wanted == c, slope));
      if (wanted >= 0 && c >= classes)
        sum += static_cast<double>(smooth(shape, made[c] - box[c - classes], slope));
      if (scale) made[c] = *scale * slope;
    }
    return sum;
  }

  /// -a (1 - q)^2 log q, q the probability of the truth; that of z is p = 1 / (1 + e^-z).
  static T focal(T alpha, T z, bool positive, T& slope) {
    const T share = positive ? alpha : T{1} - alpha, sign = positive ? T{1} : T{-1};
    const T s = sign * z, small = std::exp(-std::abs(s));
    const T minus_log = std::log1p(small) + (s < T{0} ? -s : T{});
    const T q = (s < T{0} ? small : T{1}) / (T{1} + small), rest = T{1} - q;
    slope = -sign * share * rest * rest * (rest + T{2} * q * minus_log);
    return share * rest * rest * minus_log;
  }

  static T smooth(const DetectionLossShape& shape, T off, T& slope) {
    const T beta = static_cast<T>(shape.box_beta), weight = static_cast<T>(shape.box_weight);
    const T size = std::abs(off);
    if (size < beta) {
      slope = weight * off / beta;
      return weight * off * off / (T{2} * beta);
    }
    slope = off < T{0} ? -weight : weight;
    return weight * (size - beta / T{2});
  }
};

}  // namespace bench::training::BENCH_ISA
