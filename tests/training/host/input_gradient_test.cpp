// Gradients of a graph's inputs: what parameters outside of it (rows of tables) are trained by.
#include "tests/support/catch.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/operators/linear.h"
#include "training/operators/recommender.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// Two users of x, of which one would give its own gradient's memory away, and work after both.
struct TwoUses {
  TwoUses() {
    const Var w = graph.parameter("w", {6, 6}, {Initial::normal(0.6)});
    x = graph.input_with_gradient("x", {9, 6});
    const Var early = relu(linear(graph.parameter("before", {9, 6}, {Initial::normal(0.6)}), w));
    losses = cross_entropy(linear(add(x, gelu(linear(add(early, x), w))), w), targets());
  }
  Var targets() { return ids = graph.input("ids", {9, 1}, Dtype::int32); }

  Graph graph{Dtype::f64};
  Var x, ids, losses;
};

KernelSet input_kernels(Dtype dtype) { return host_kernels(dtype); }

}  // namespace

TEST_CASE("the gradient of an input matches finite differences for each micro-batch") {
  TwoUses model;
  const Plan plan = make_plan(model.graph);
  const Weights weights(plan, 4);
  Lane lane(plan, weights, input_kernels);
  fill_ids(lane.view(model.ids), 6, 1);
  const View x = lane.view(model.x);
  for (std::int64_t i = 0; i < x.elements(); ++i)
    x.as<double>()[i] = 0.1 * static_cast<double>(i % 7) - 0.3;
  const auto loss = [&] {
    lane.forward({});
    return sum_of_losses(lane.view(model.losses));
  };
  for (const bool first : {true, false}) {  // never added to, unlike that of a parameter
    loss();
    lane.backward({1.0, first});
    const View found = lane.gradient(model.x);
    REQUIRE(found.elements() == x.elements());
    const std::vector<double> slopes(found.as<double>(), found.as<double>() + found.elements());
    for (std::int64_t i = 0; i < x.elements(); i += 5) {
      double& value = x.as<double>()[i];
      const double before = value, step = 1e-5;
      value = before + step;
      const double up = loss();
      value = before - step;
      const double down = loss();
      value = before;
      CHECK(slopes[static_cast<std::size_t>(i)] == Approx((up - down) / (2 * step)).margin(1e-8));
    }
  }
}

TEST_CASE("input gradients exist only in training and only if requested") {
  TwoUses model;
  const auto slot = [&](const Plan& plan, Var var) {
    return plan.gradients[static_cast<std::size_t>(var.id)].buffer;
  };
  CHECK(slot(make_plan(model.graph, false), model.x) == -1);
  CHECK(slot(make_plan(model.graph), model.x) >= 0);
  CHECK(slot(make_plan(model.graph), model.ids) == -1);
}

TEST_CASE("an input with a gradient but no dependent loss is refused") {
  Graph graph;
  graph.input_with_gradient("idle", {4, 2});
  const Var w = graph.parameter("w", {4, 1});
  binary_cross_entropy(w, graph.input("labels", {4, 1}, Dtype::f32));
  CHECK_THROWS_WITH(make_plan(graph), Contains("idle"));
}

}  // namespace bench::training
