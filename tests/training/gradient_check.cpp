#include "tests/training/gradient_check.h"

#include <cmath>
#include <random>

namespace bench::training {
namespace {

class DirectionalCheck {
 public:
  DirectionalCheck(const Graph& graph, const std::function<double(const Lane&)>& objective,
                   const KernelFactory& kernels)
      : graph_(graph),
        objective_(objective),
        plan_(make_plan(graph)),
        weights_(plan_, 3),
        lane_(plan_, weights_, kernels) {
    scramble();
  }

  const Lane& lane() const { return lane_; }

  GradientError run() {
    loss();
    lane_.backward(scalars_);
    GradientError error;
    for (const auto& [tensor, action] : plan_.gradient_order) {
      const double relative = of(tensor);
      if (std::isnan(error.worst) || relative <= error.worst) continue;
      error = {relative, graph_.tensors()[static_cast<std::size_t>(tensor)].name};
    }
    return error;
  }

 private:
  /// Zeros and ones would hide errors.
  void scramble() {
    std::normal_distribution<double> normal(0.0, 0.3);
    const View all = weights_.all();
    for (std::int64_t i = 0; i < all.elements(); ++i) all.as<double>()[i] += normal(random_);
  }

  double loss() {
    lane_.forward(scalars_);
    return objective_(lane_);
  }

  double of(int tensor) {
    const View p = weights_.view(plan_, tensor);
    const View g = lane_.gradient({nullptr, tensor});
    std::normal_distribution<double> normal;
    std::vector<double> direction(static_cast<std::size_t>(p.elements()));
    double analytic = 0.0;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      direction[i] = normal(random_);
      analytic += direction[i] * g.as<double>()[i];
    }
    constexpr double kStep = 1e-5;
    const auto moved = [&](double by) {
      for (std::size_t i = 0; i < direction.size(); ++i) p.as<double>()[i] += by * direction[i];
      return loss();
    };
    const double up = moved(kStep), down = moved(-2.0 * kStep);
    moved(kStep);
    const double difference = (up - down) / (2.0 * kStep);
    return std::abs(analytic - difference) / (std::abs(analytic) + std::abs(difference) + 1e-3);
  }

  std::mt19937_64 random_{7};
  const Graph& graph_;
  const std::function<double(const Lane&)>& objective_;
  Plan plan_;
  Weights weights_;
  Lane lane_;
  StepScalars scalars_;
};

}  // namespace

GradientError check_gradients(const Graph& graph, Var losses,
                              const std::function<void(const Lane&)>& fill,
                              const KernelFactory& kernels) {
  return check_gradients(
      graph, [losses](const Lane& lane) { return sum_of_losses(lane.view(losses)); }, fill,
      kernels);
}

GradientError check_gradients(const Graph& graph,
                              const std::function<double(const Lane&)>& objective,
                              const std::function<void(const Lane&)>& fill,
                              const KernelFactory& kernels) {
  DirectionalCheck check(graph, objective, kernels);
  fill(check.lane());
  return check.run();
}

void fill_ids(View ids, int bound, unsigned seed) {
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < ids.elements(); ++i)
    ids.as<std::int32_t>()[i] = static_cast<std::int32_t>(random() % static_cast<unsigned>(bound));
}

double sum_of_losses(View losses) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < losses.elements(); ++i) sum += losses.as<double>()[i];
  return sum;
}

}  // namespace bench::training
