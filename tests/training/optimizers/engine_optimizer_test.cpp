#include <cmath>

#include "tests/support/catch.h"
#include "training/host/host_kernels.h"
#include "training/optimizers/gradient_outliers.h"
#include "training/optimizers/optimizer.h"

namespace bench::training {
namespace {

View one_row(std::vector<double>& values) {
  return {values.data(), 1, static_cast<std::int64_t>(values.size()), Dtype::f64};
}

/// One parameter at `start` after `steps` with the gradient `slope`.
double moved_parameter(Optimizer& optimizer, double start, double slope, int steps,
                       bool decay = true) {
  std::vector<double> p{start}, g{slope};
  optimizer.prepare(1, Dtype::f64);
  const KernelSet kernels = host_kernels(Dtype::f64);
  for (int step = 1; step <= steps; ++step) {
    optimizer.begin_step({0.1, 1.0, step});
    optimizer.update(kernels, {0, decay, one_row(p), one_row(g)});
  }
  return p[0];
}

}  // namespace

TEST_CASE("AdamW moves by the learning rate under a constant gradient of any size") {
  CHECK(moved_parameter(*make_adamw({}), 1.0, 5.0, 3) == Approx(0.7));
  CHECK(moved_parameter(*make_adamw({}), 1.0, -1e-3, 3) == Approx(1.3).epsilon(1e-4));
}

TEST_CASE("AdamW's decay is decoupled and skips excluded parameters") {
  AdamwOptions options;
  options.decay = 0.5;
  CHECK(moved_parameter(*make_adamw(options), 1.0, 0.0, 2) == Approx(0.95 * 0.95));
  CHECK(moved_parameter(*make_adamw(options), 1.0, 0.0, 2, false) == 1.0);
}

TEST_CASE("SGD adds up its momentum, and decay goes through it") {
  // Steps of 0.1 x 2 x (1, 1.5, 1.75).
  CHECK(moved_parameter(*make_sgd({0.5, 0.0}), 1.0, 2.0, 3) == Approx(1.0 - 0.2 * 4.25));
  // Velocities 0.5 and 0.25 + 0.5 x 0.95.
  CHECK(moved_parameter(*make_sgd({0.5, 0.5}), 1.0, 0.0, 2) == Approx(0.95 - 0.1 * 0.725));
  CHECK(moved_parameter(*make_sgd({0.5, 0.5}), 1.0, 0.0, 2, false) == 1.0);
}

TEST_CASE("the direction of an SGD update is what a rate of 1 subtracts") {
  const auto sgd = make_sgd({0.9, 0.1});
  std::vector<double> p{1.0, -2.0}, g{3.0, 0.5};
  sgd->prepare(2, Dtype::f64);
  const KernelSet kernels = host_kernels(Dtype::f64);
  for (int step = 1; step <= 3; ++step) {
    const UpdateSample sample{p, {}, true, step};
    sgd->begin_step({0.01, 0.5, step});
    sgd->update(kernels, {0, true, one_row(p), one_row(g)});
    UpdateSample after = sample;
    const View velocities = sgd->state()[0].view;
    after.state = {{velocities.as<double>()[0], velocities.as<double>()[1]}};
    for (std::size_t i = 0; i < p.size(); ++i)
      CHECK(sample.before[i] - p[i] == Approx(0.01 * sgd->direction(after)[i]));
  }
}

TEST_CASE("row-wise Adagrad updates only the named rows, by their mean square") {
  std::vector<double> table(8, 1.0), state(4, 0.0), g{3.0, 4.0};
  std::int32_t ids[] = {2};
  AdagradRows rows{{table.data(), 4, 2, Dtype::f64},
                   {ids, 1, 1, Dtype::int32},
                   {g.data(), 1, 2, Dtype::f64},
                   {state.data(), 4, 1, Dtype::f64}};
  rows.rate = 0.1;
  host_kernels(Dtype::f64).optimizer->adagrad_rows(rows);
  CHECK(state == std::vector<double>{0.0, 0.0, 12.5, 0.0});
  CHECK(table[4] == Approx(1.0 - 0.1 * 3.0 / std::sqrt(12.5)));
  CHECK(table[5] == Approx(1.0 - 0.1 * 4.0 / std::sqrt(12.5)));
  CHECK(table[0] == 1.0);
}

TEST_CASE("schedules warm up, keep their shape and hold their final rate") {
  Schedule s{Schedule::Shape::linear_last, 2.0, 10, 100};
  CHECK(s.rate(0) == Approx(0.2));
  CHECK(s.rate(9) == Approx(2.0));
  CHECK(s.rate(50) == Approx(2.0));
  CHECK(s.rate(75) == Approx(1.0));
  CHECK(s.rate(1000) == 0.0);
  s.shape = Schedule::Shape::cosine;
  s.floor = 0.1;
  CHECK(s.rate(55) == Approx(2.0 * 0.55));
  CHECK(s.rate(100) == Approx(0.2));
  s.shape = Schedule::Shape::linear;
  CHECK(s.rate(55) == Approx(2.0 * 0.55));
  s.shape = Schedule::Shape::constant;
  CHECK(s.rate(70) == 2.0);
}

TEST_CASE("an outlying gradient norm is logged, a drifting one is not") {
  GradientOutliers outliers;
  for (int step = 0; step < 200; ++step) {
    const double norm = std::exp(-0.01 * step) * (1.0 + 0.1 * std::sin(step * 1.7));
    CHECK_FALSE(outliers.observe(step, norm));
  }
  const auto found = outliers.observe(200, 10.0);
  REQUIRE(found);
  CHECK(found->z > 6.0);
  CHECK_FALSE(outliers.observe(201, std::exp(-2.0)));
  CHECK(outliers.observe(202, std::nan("")));
  CHECK(outliers.log().size() == 2);
}

}  // namespace bench::training
