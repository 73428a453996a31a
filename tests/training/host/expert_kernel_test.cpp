// Routed experts against plain loops over tokens and experts, and their gradients against finite
// differences, with every set of kernels that this CPU has.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/faulty_experts.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/operators/experts.h"
#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

using Numbers = std::vector<double>;

struct RoutedLayer {
  Routing routing;
  std::int64_t rows, width, hidden;
  Numbers x, logits, up, down;
};

Numbers wavy(std::int64_t count, double step) {
  Numbers made;
  for (std::int64_t i = 0; i < count; ++i) made.push_back(std::sin(step * static_cast<double>(i)));
  return made;
}

RoutedLayer routed_layer(std::int64_t top, std::int64_t capacity) {
  RoutedLayer layer{{7, 5, top, capacity}, 21, 6, 3, {}, {}, {}, {}};
  layer.x = wavy(layer.rows * layer.width, 0.7);
  layer.logits = wavy(layer.rows * 5, 1.3);
  for (std::int64_t i = 4; i < layer.rows * 5; i += 5)
    layer.logits[static_cast<std::size_t>(i)] -= 9.0;  // chosen by no token
  layer.up = wavy(5 * layer.width * 2 * layer.hidden, 0.9);
  layer.down = wavy(5 * layer.hidden * layer.width, 1.1);
  return layer;
}

struct PlainResult {
  Numbers gates, y, statistics;
};

/// As the papers define it: no sorting, no gathering, no GEMM.
PlainResult plain_experts(const RoutedLayer& layer) {
  const auto experts = static_cast<std::size_t>(layer.routing.experts);
  const auto top = static_cast<std::size_t>(layer.routing.top);
  const auto sequence = static_cast<std::size_t>(layer.routing.sequence);
  const auto width = static_cast<std::size_t>(layer.width);
  const auto hidden = static_cast<std::size_t>(layer.hidden);
  const auto rows = static_cast<std::size_t>(layer.rows);
  PlainResult result{Numbers(rows * experts), Numbers(rows * width), {}};
  for (std::size_t s = 0; s < rows / sequence; ++s) {
    Numbers taken(experts), chosen(experts), mean(experts);
    double dropped = 0.0;
    for (std::size_t i = s * sequence; i < (s + 1) * sequence; ++i) {
      const double* logit = layer.logits.data() + i * experts;
      double sum = 0.0, sum_of_chosen = 0.0;
      for (std::size_t e = 0; e < experts; ++e) sum += std::exp(logit[e]);
      for (std::size_t e = 0; e < experts; ++e)
        mean[e] += std::exp(logit[e]) / sum / static_cast<double>(sequence);
      std::vector<std::size_t> order(experts);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return logit[a] > logit[b]; });
      for (std::size_t k = 0; k < top; ++k) sum_of_chosen += std::exp(logit[order[k]]);
      for (std::size_t k = 0; k < top; ++k) {
        const std::size_t e = order[k];
        ++chosen[e];
        if (layer.routing.capacity > 0 && taken[e] >= static_cast<double>(layer.routing.capacity)) {
          ++dropped;
          continue;
        }
        ++taken[e];
        const double gate = std::exp(logit[e]) / sum_of_chosen;
        result.gates[i * experts + e] = gate;
        for (std::size_t j = 0; j < hidden; ++j) {
          double g = 0.0, u = 0.0;
          for (std::size_t c = 0; c < width; ++c) {
            const double* up = layer.up.data() + (e * width + c) * 2 * hidden;
            g += layer.x[i * width + c] * up[j];
            u += layer.x[i * width + c] * up[hidden + j];
          }
          const double a = g / (1.0 + std::exp(-g)) * u;
          for (std::size_t c = 0; c < width; ++c)
            result.y[i * width + c] += gate * a * layer.down[(e * hidden + j) * width + c];
        }
      }
    }
    double balance = 0.0;
    for (std::size_t e = 0; e < experts; ++e)
      balance +=
          static_cast<double>(experts) * mean[e] * chosen[e] / static_cast<double>(sequence * top);
    result.statistics.insert(result.statistics.end(), taken.begin(), taken.end());
    result.statistics.push_back(static_cast<double>(sequence * top));
    result.statistics.push_back(dropped);
    result.statistics.push_back(balance);
  }
  return result;
}

/// The layer as a graph whose only operators are those of experts, in f64.
struct ExpertGraph {
  Graph graph{Dtype::f64};
  Var x, logits, up, down, gates, y, statistics;

  explicit ExpertGraph(const RoutedLayer& layer) {
    const Routing& r = layer.routing;
    x = graph.input("x", {layer.rows, layer.width}, Dtype::f64);
    logits = graph.input("logits", {layer.rows, r.experts}, Dtype::f64);
    up = graph.input("up", {r.experts, layer.width, 2 * layer.hidden}, Dtype::f64);
    down = graph.input("down", {r.experts, layer.hidden, layer.width}, Dtype::f64);
    gates = route(logits, r, 0.0);
    statistics = routing_statistics(logits, r);
    y = experts(x, gates, up, down, r.top);
  }

  PlainResult run(const RoutedLayer& layer, std::string_view isa) {
    const Plan plan = make_plan(graph, false);
    const Weights weights(plan, 1);
    Lane lane(plan, weights, [isa](Dtype dtype) { return host_kernels(dtype, isa); });
    const auto write = [&](Var var, const Numbers& numbers) {
      std::copy(numbers.begin(), numbers.end(), lane.view(var).as<double>());
    };
    write(x, layer.x), write(logits, layer.logits), write(up, layer.up), write(down, layer.down);
    lane.forward({});
    const auto numbers = [&](Var var) {
      const double* begin = lane.view(var).as<double>();
      return Numbers(begin, begin + lane.view(var).elements());
    };
    return {{}, numbers(y), numbers(statistics)};
  }
};

void check_equal(const Numbers& found, const Numbers& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).epsilon(1e-12).margin(1e-13));
}

/// Router and experts over parameters, with the balance loss as a part of what is minimized.
GradientError check_routed(const Routing& routing, double balance, std::string_view isa,
                           const std::function<void(KernelSet&)>& inject = {}) {
  constexpr std::int64_t kRows = 21, kWidth = 6, kHidden = 3;
  Graph graph(Dtype::f64);
  const Var x = graph.parameter("x", {kRows, kWidth}, {Initial::normal(0.7)});
  const Var w = graph.parameter("router", {kWidth, routing.experts}, {Initial::normal(0.7)});
  const Var logits = linear(x, w);
  const Var gates = route(logits, routing, balance);
  const Var y = experts(
      x, gates, graph.parameter("up", {routing.experts, kWidth, 2 * kHidden}, {Initial::normal(1)}),
      graph.parameter("down", {routing.experts, kHidden, kWidth}, {Initial::normal(1)}),
      routing.top);
  const Var targets = graph.input("targets", {kRows, 1}, Dtype::int32);
  const Var losses = cross_entropy(add(y, x), targets);
  const KernelSet right = host_kernels(Dtype::f64, isa);
  const auto objective = [&](const Lane& lane) {
    const std::int64_t sequences = kRows / routing.sequence;
    const std::int64_t columns = routing.experts + kRoutingColumns;
    Numbers seen(static_cast<std::size_t>(sequences * columns));
    right.experts->statistics(routing, lane.view(logits),
                              {seen.data(), sequences, columns, Dtype::f64});
    double sum = sum_of_losses(lane.view(losses));
    for (std::int64_t s = 0; s < sequences; ++s)
      sum += balance * static_cast<double>(routing.sequence) *
             seen[static_cast<std::size_t>(s * columns + routing.experts +
                                           static_cast<int>(RoutingColumn::balance))];
    return sum;
  };
  const auto fill = [&](const Lane& lane) {
    fill_ids(lane.view(targets), static_cast<int>(kWidth), 5);
  };
  return check_gradients(graph, objective, fill, [&](Dtype dtype) {
    KernelSet set = host_kernels(dtype, isa);
    if (inject) inject(set);
    return set;
  });
}

}  // namespace

TEST_CASE("gates, experts and statistics are those of plain loops, dropless and with a capacity") {
  for (const auto& [top, capacity] : {std::pair{1, 0}, {2, 0}, {5, 0}, {2, 3}, {1, 1}}) {
    const RoutedLayer layer = routed_layer(top, capacity);
    const PlainResult expected = plain_experts(layer);
    for (const std::string_view isa : host_kernel_isas()) {
      INFO(isa << ", top " << top << ", capacity " << capacity);
      const PlainResult found = ExpertGraph(layer).run(layer, isa);
      check_equal(found.y, expected.y);
      check_equal(found.statistics, expected.statistics);
    }
  }
}

TEST_CASE("gates of a token sum to 1, and equal logits choose the first experts") {
  const RoutedLayer layer = routed_layer(2, 0);
  KernelSet kernels = host_kernels(Dtype::f64);
  Numbers logits = layer.logits, gates(logits.size());
  for (std::size_t e = 0; e < 5; ++e) logits[e] = 0.25;
  kernels.experts->route(layer.routing, {logits.data(), layer.rows, 5, Dtype::f64},
                         {gates.data(), layer.rows, 5, Dtype::f64});
  CHECK(Numbers(gates.begin(), gates.begin() + 5) == Numbers{0.5, 0.5, 0, 0, 0});
  for (std::size_t i = 0; i < gates.size(); i += 5) {
    CHECK(std::accumulate(&gates[i], &gates[i] + 5, 0.0) == Approx(1.0));
    CHECK(std::count(&gates[i], &gates[i] + 5, 0.0) == 3);
  }
}

TEST_CASE("a sequence's experts depend on no other sequence of the micro-batch") {
  const RoutedLayer all = routed_layer(2, 3);
  RoutedLayer last = all;
  last.rows = 7;
  last.x.erase(last.x.begin(), last.x.end() - 7 * 6);
  last.logits.erase(last.logits.begin(), last.logits.end() - 7 * 5);
  const auto isa = host_kernel_isas().front();
  const PlainResult together = ExpertGraph(all).run(all, isa);
  const PlainResult alone = ExpertGraph(last).run(last, isa);
  CHECK(Numbers(together.y.end() - 7 * 6, together.y.end()) == alone.y);
  CHECK(Numbers(together.statistics.end() - 8, together.statistics.end()) == alone.statistics);
}

TEST_CASE("the gradients of routed experts and of the balance loss are correct") {
  for (const std::string_view isa : host_kernel_isas())
    for (const Routing& routing : {Routing{7, 5, 2, 0}, Routing{21, 5, 1, 0}, Routing{7, 4, 3, 2}})
      for (const double balance : {0.0, 0.5}) {
        const GradientError error = check_routed(routing, balance, isa);
        INFO(isa << " top " << routing.top << " balance " << balance << ": worst at "
                 << error.parameter);
        CHECK(error.worst < 1e-6);
      }
}

TEST_CASE("finite differences find faults of routers and experts") {
  const auto isa = host_kernel_isas().front();
  const Routing routing{7, 5, 2, 0};
  CHECK(check_routed(routing, 0.5, isa, replace_experts<UntaughtRouter>).worst > 1e-3);
  CHECK(check_routed(routing, 0.5, isa, replace_experts<UnbalancingRouter>).worst > 1e-3);
  CHECK(check_routed(routing, 0.5, isa, replace_experts<StaleExpert>).worst > 1e-3);
}

TEST_CASE("operators of experts refuse shapes that do not fit, and devices without their kernels") {
  Graph graph(Dtype::f32);
  const Var x = graph.input("x", {8, 4}, Dtype::f32);
  const Var logits = graph.input("logits", {8, 3}, Dtype::f32);
  CHECK_THROWS_WITH(route(logits, {8, 4, 2}, 0.0), Catch::Contains("not 4 experts"));
  CHECK_THROWS_WITH(route(logits, {8, 3, 4}, 0.0), Catch::Contains("4 of 3 experts"));
  const Var up = graph.input("up", {3, 4, 10}, Dtype::f32);
  const Var down = graph.input("down", {3, 4, 5}, Dtype::f32);
  CHECK_THROWS_WITH(experts(x, logits, up, down, 2), Catch::Contains("down [3, 4, 5]"));
  route(logits, {8, 3, 2}, 0.0);
  const Plan plan = make_plan(graph, false);
  const Weights weights(plan, 1);
  Lane lane(plan, weights, [](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    set.experts.reset();
    return set;
  });
  CHECK_THROWS_WITH(lane.forward({}), Catch::Contains("not available in f32 on this device"));
}

}  // namespace bench::training
