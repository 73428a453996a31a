// The recommender kernels made of the bodies in this folder, in f32; see functor_kernels.h.
#pragma once

#include "probes/training/kernels/functors/dot_rows.h"
#include "probes/training/kernels/functors/recommender_elements.h"
#include "probes/training/kernels/recommender.h"

namespace bench::training {

template <class Launch>
class FunctorRecommender final : public RecommenderKernels {
 public:
  explicit FunctorRecommender(Launch launch) : launch_(launch) {}
  void relu_forward(View x, View y) override {
    launch_.template elements<kWide>(ReluForward{x.as<float>(), y.as<float>()}, x.elements());
  }
  void relu_backward(View y, View y_gradient, View x_gradient, bool add) override {
    launch_.template elements<kWide>(
        ReluBackward{y.as<float>(), y_gradient.as<float>(), x_gradient.as<float>(), add},
        y.elements());
  }
  void cross_forward(View x0, View u, View x, View y) override {
    launch_.template elements<kWide>(
        CrossForward{x0.as<float>(), u.as<float>(), x.as<float>(), y.as<float>()}, y.elements());
  }
  void cross_backward(const CrossBackward& what) override {
    if (!what.x0_gradient && !what.u_gradient) return;
    const CrossGradients body{what.x0.as<float>(),
                              what.u.as<float>(),
                              what.y_gradient.as<float>(),
                              what.x0_gradient.as<float>(),
                              what.u_gradient.as<float>(),
                              what.add_x0,
                              what.add_u};
    launch_.template elements<kWide>(body, what.y_gradient.elements());
  }
  void dot_forward(View first, View rest, View y) override {
    const DotForward body{features(first, rest), y.as<float>()};
    launch_.units(body, y.rows, 1, body.z.shared_bytes());
  }
  void dot_backward(const DotBackward& what) override {
    if (!what.first_gradient && !what.rest_gradient) return;
    const DotGradients body{features(what.first, what.rest),
                            what.y_gradient.as<float>(),
                            what.first_gradient.as<float>(),
                            what.rest_gradient.as<float>(),
                            what.add_first,
                            what.add_rest};
    launch_.units(body, what.y_gradient.rows, 1, body.shared_bytes());
  }
  void copy_columns(View from, std::int64_t from_column, View to, std::int64_t to_column,
                    std::int64_t columns, bool add) override {
    const CopyColumns body{from.as<float>() + from_column,
                           to.as<float>() + to_column,
                           from.columns,
                           to.columns,
                           columns,
                           add};
    if (body.fits(from_column, to_column, kWide))
      launch_.template rows<kWide>(body, from.rows);
    else
      launch_.template rows<1>(body, from.rows);
  }
  void binary_cross_entropy(View logits, View labels, double gradient_scale, View losses) override {
    launch_.template elements<1>(
        ClickLosses{logits.as<float>(), labels.as<float>(), losses.as<double>(),
                    static_cast<float>(gradient_scale)},
        logits.rows);
  }

 private:
  static constexpr int kWide = kWidest<float>;
  static DotFeatures features(View first, View rest) {
    return {first.as<float>(), rest.as<float>(), static_cast<int>(first.columns),
            static_cast<int>(1 + rest.columns / first.columns)};
  }
  Launch launch_;
};

}  // namespace bench::training
