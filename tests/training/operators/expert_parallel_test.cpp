// Experts that ranks divide, against the same experts on one rank.
#include "training/operators/expert_parallel.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "core/elements.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "training/engine/lane.h"
#include "training/host/host_kernels.h"
#include "training/operators/experts.h"
#include "training/operators/transformer.h"
#include "training/parallel/rank_sum.h"

namespace bench::training {
namespace {

using Numbers = std::vector<double>;

constexpr std::int64_t kRows = 24, kWidth = 6, kHidden = 5, kExperts = 6;

/// How tokens choose: logit of a row and expert.
using Logit = double (*)(std::int64_t row, std::int64_t expert);

double scattered(std::int64_t row, std::int64_t expert) {
  return random_normal(7, static_cast<std::uint64_t>(row * kExperts + expert));
}
/// All choose the last expert, and another one.
double crowded(std::int64_t row, std::int64_t expert) {
  return scattered(row, expert) + (expert == kExperts - 1 ? 20.0 : 0.0);
}
/// No token chooses a part of the experts, whatever the number of ranks.
double avoided(std::int64_t row, std::int64_t expert) {
  return scattered(row, expert) - (expert > 1 ? 20.0 : 0.0);
}

struct Routed {
  Numbers losses, x, logits;  // of all rows: losses, and gradients
  Numbers up, down;           // gradients of all experts

  std::vector<Numbers*> all() { return {&losses, &x, &logits, &up, &down}; }
};

void put(View from, Numbers& to, std::int64_t first) {
  Numbers values(static_cast<std::size_t>(from.elements()));
  decode(from.as<std::byte>(), from.dtype, false, values);
  std::ranges::copy(values, to.begin() + first);
}

/// What one rank has of it, of its rows and experts; zeros elsewhere. The loss takes y for logits.
Routed route_rows(const Routing& routing, Logit logit, int rank, int ranks,
                  const KernelFactory& kernels) {
  const std::int64_t rows = kRows / ranks, first = rank * rows;
  const std::int64_t own = kExperts / ranks;
  Graph graph(Dtype::f64);
  const Var x = graph.input_with_gradient("x", {rows, kWidth});
  const Var logits = graph.input_with_gradient("logits", {rows, kExperts});
  const Var targets = graph.input("targets", {rows, 1}, Dtype::int32);
  const auto matrices = [&](const char* name, std::int64_t of_rows, std::int64_t columns) {
    ParameterOptions options{Initial::normal(0.5)};
    if (ranks > 1)
      options.slice = {{kExperts, of_rows, columns}, rank * own * of_rows, {{0, columns}}};
    return graph.parameter(name, {own, of_rows, columns}, options);
  };
  const Var up = matrices("up", kWidth, 2 * kHidden), down = matrices("down", kHidden, kWidth);
  const Var gates = route(logits, routing, 0.01);
  const Var y = ranks > 1 ? divided_experts(x, gates, up, down, routing, ranks)
                          : experts(x, gates, up, down, routing.top);
  const Var losses = cross_entropy(y, targets);
  const Plan plan = make_plan(graph);
  const Weights weights(plan, 1);
  Lane lane(plan, weights, kernels);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t c = 0; c < kWidth; ++c)
      lane.view(x).as<double>()[i * kWidth + c] =
          random_normal(3, static_cast<std::uint64_t>((first + i) * kWidth + c));
    for (std::int64_t e = 0; e < kExperts; ++e)
      lane.view(logits).as<double>()[i * kExperts + e] = logit(first + i, e);
    lane.view(targets).as<std::int32_t>()[i] = static_cast<std::int32_t>((first + i) % kWidth);
  }
  // Twice, as micro-batches do: gradients of parameters add up.
  for (const bool is_first : {true, false}) {
    const StepScalars scalars{1.0 / kRows, is_first};
    lane.forward(scalars);
    lane.backward(scalars);
  }
  Routed routed{Numbers(kRows), Numbers(kRows * kWidth), Numbers(kRows * kExperts),
                Numbers(kExperts * kWidth * 2 * kHidden), Numbers(kExperts * kHidden * kWidth)};
  put(lane.view(losses), routed.losses, first);
  put(lane.gradient(x), routed.x, first * kWidth);
  put(lane.gradient(logits), routed.logits, first * kExperts);
  put(lane.gradient(up), routed.up, rank * own * kWidth * 2 * kHidden);
  put(lane.gradient(down), routed.down, rank * own * kHidden * kWidth);
  return routed;
}

double length(const Numbers& numbers) {
  double sum = 0.0;
  for (const double number : numbers) sum += number * number;
  return std::sqrt(sum);
}

double relative_distance(Numbers a, const Numbers& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return length(a) / length(b);
}

Routed route_together(const Routing& routing, Logit logit, int ranks) {
  Routed together =
      route_rows(routing, logit, 0, 1, [](Dtype dtype) { return host_kernels(dtype); });
  for (Numbers* numbers : together.all()) std::ranges::fill(*numbers, 0.0);
  std::mutex mutex;
  run_ranks(ranks, [&](Group& group) {
    RankGroups groups;
    groups.experts = &group;
    const KernelFactory kernels =
        with_rank_kernels([](Dtype dtype) { return host_kernels(dtype); }, groups);
    Routed own = route_rows(routing, logit, group.rank(), ranks, kernels);
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < own.all().size(); ++i)
      for (std::size_t j = 0; j < own.all()[i]->size(); ++j)
        (*together.all()[i])[j] += (*own.all()[i])[j];
  });
  return together;
}

}  // namespace

TEST_CASE("experts on several ranks have the losses and gradients of experts on one") {
  for (const auto& [logit, name] : {std::pair<Logit, const char*>{scattered, "scattered"},
                                    {crowded, "crowded"},
                                    {avoided, "avoided"}})
    for (const std::int64_t top : {1, 2, 3})
      for (const std::int64_t capacity : {0, 2}) {
        const Routing routing{4, kExperts, top, capacity};
        Routed whole =
            route_rows(routing, logit, 0, 1, [](Dtype dtype) { return host_kernels(dtype); });
        for (const int ranks : {2, 3, 6}) {
          INFO(name << ", top " << top << ", capacity " << capacity << ", " << ranks << " ranks");
          Routed together = route_together(routing, logit, ranks);
          for (std::size_t i = 0; i < whole.all().size(); ++i) {
            INFO("tensor " << i);
            CHECK(relative_distance(*together.all()[i], *whole.all()[i]) < 1e-13);
          }
        }
      }
}

TEST_CASE("an expert that no token of any rank chose has a gradient of zero") {
  const Routed together = route_together({4, kExperts, 2, 0}, avoided, 3);
  const auto of_last = std::span(together.up).last(4 * kWidth * 2 * kHidden);
  CHECK(std::ranges::all_of(of_last, [](double slope) { return slope == 0.0; }));
  CHECK(length(together.up) > 0.0);
}

TEST_CASE("ranks plan memory for the worst case, or for what a capacity lets through") {
  const auto operators_of = [](const Routing& routing) {
    Graph graph(Dtype::f32);
    const Var x = graph.input_with_gradient("x", {8, 4});
    const Var gates = graph.input_with_gradient("gates", {8, 6});
    const Var up = graph.parameter("up", {3, 4, 10}), down = graph.parameter("down", {3, 5, 4});
    divided_experts(x, gates, up, down, routing, 2);
    std::int64_t order = 0, message = 0;
    double flops = 0.0;
    for (const Node& node : graph.nodes()) {
      message = std::max(message, node.op->largest_message());
      flops += node.op->flops();
      for (const Saved& saved : node.op->saved())
        if (node.op->name() == "experts" && saved.statistic) order = saved.shape.elements();
    }
    CHECK(message == 8 * 4);
    CHECK(flops == 6.0 * 8 * 2 * 4 * 5);  // two of six experts for each of eight tokens
    return order - 3 - 1;                 // slots
  };
  CHECK(operators_of({4, 6, 2, 0}) == 2 * 8 * 2);
  CHECK(operators_of({4, 6, 2, 2}) == 4 * 3 * 2);  // four sequences, three experts of two tokens
}

TEST_CASE("experts that ranks cannot divide are refused with their number") {
  Graph graph(Dtype::f32);
  const Var x = graph.input_with_gradient("x", {8, 4});
  const Var gates = graph.input_with_gradient("gates", {8, 6});
  const Var up = graph.parameter("up", {2, 4, 10}), down = graph.parameter("down", {2, 5, 4});
  CHECK_THROWS_WITH(divided_experts(x, gates, up, down, {4, 6, 2, 0}, 4),
                    Catch::Matchers::Contains("6 experts over 4 ranks"));
}

}  // namespace bench::training
