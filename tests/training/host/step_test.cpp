// Whole training steps: what must not change the result, what may, and which faults must be found.
#include <cmath>
#include <cstring>
#include <set>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/gradient_check.h"
#include "tests/training/llm_trainer.h"
#include "training/host/host_kernels.h"
#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

std::vector<float> weights_after(LlmTrainerOptions options, int steps) {
  options.steps = 100;
  LlmTrainer trainer(options);
  for (int i = 0; i < steps; ++i) trainer.step();
  const View all = trainer.replica().weights().all();
  return {all.as<float>(), all.as<float>() + all.elements()};
}

double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0.0, length = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(a[i] - b[i], 2.0);
    length += std::pow(a[i], 2.0);
  }
  return std::sqrt(difference / length);
}

/// Names of the trainable parameters of which an element in no case moved.
std::set<std::string> unmoved_parameters(LlmTrainer& trainer, const std::vector<float>& before) {
  std::set<std::string> names;
  const Replica& replica = trainer.replica();
  const auto& tensors = trainer.model().graph->tensors();
  const auto* start = replica.weights().all().as<float>();
  for (std::size_t id = 0; id < tensors.size(); ++id) {
    if (tensors[id].kind != Tensor::Kind::parameter) continue;
    const View p = replica.weights().view(trainer.plan(), static_cast<int>(id));
    const auto first = static_cast<std::size_t>(p.as<float>() - start);
    const auto bytes = static_cast<std::size_t>(p.elements()) * sizeof(float);
    if (std::memcmp(p.data, before.data() + first, bytes) == 0) names.insert(tensors[id].name);
  }
  return names;
}

}  // namespace

TEST_CASE("two trainings are bit-identical for equal seeds only") {
  LlmTrainerOptions options;
  const std::vector<float> once = weights_after(options, 3);
  CHECK(weights_after(options, 3) == once);
  options.seed = 2;
  CHECK(relative_distance(weights_after(options, 3), once) > 0.1);
}

TEST_CASE("accumulated micro-batches give the gradient of the whole batch bit for bit") {
  // Each product goes on where the micro-batch before stopped, in the same order.
  LlmTrainerOptions options;
  options.lanes = 1;
  const std::vector<float> whole = weights_after(options, 3);
  options.micro_batches = 4;
  CHECK(weights_after(options, 3) == whole);
}

TEST_CASE("the number of lanes changes a training by rounding only") {
  LlmTrainerOptions options;
  options.lanes = 1;
  const std::vector<float> one = weights_after(options, 1);
  options.lanes = 4;
  const std::vector<float> four = weights_after(options, 1);
  CHECK(four != one);
  CHECK(relative_distance(one, four) <
        1e-4);  // AdamW's first step divides g by |g|: noise in the smallest
}

TEST_CASE("recomputation changes no bit") {
  LlmTrainerOptions options;
  const std::vector<float> kept = weights_after(options, 3);
  options.recompute = true;
  CHECK(weights_after(options, 3) == kept);
}

TEST_CASE("every parameter moves within a few steps") {
  LlmTrainerOptions options;
  options.steps = 100;
  LlmTrainer trainer(options);
  const View all = trainer.replica().weights().all();
  const std::vector<float> before(all.as<float>(), all.as<float>() + all.elements());
  CHECK(unmoved_parameters(trainer, before).size() == 2 * 6 + 3);
  trainer.step();
  trainer.step();
  CHECK(unmoved_parameters(trainer, before).empty());
}

TEST_CASE("llm tiny learns: 40 % of the distance to the floor in 60 steps", "[long]") {
  LlmTrainerOptions options;
  options.steps = 60;
  LlmTrainer trainer(options);
  const double untrained = trainer.gap(64);
  CHECK(untrained == Approx(std::log(64.0) - 2.36).margin(0.1));
  for (int i = 0; i < options.steps; ++i) trainer.step();
  CHECK(trainer.gap(64) < untrained * 0.6);
}

TEST_CASE("a frozen parameter is found among changed ones") {
  Graph graph;
  const Var tokens = graph.input("tokens", {8, 1}, Dtype::int32);
  ParameterOptions frozen{Initial::normal(0.5)};
  frozen.trainable = false;
  const Var table = graph.parameter("table", {5, 16}, frozen);
  const Var head = graph.parameter("head", {16, 5}, {Initial::normal(0.5)});
  const Var losses = cross_entropy(linear(embedding(tokens, table), head), tokens);
  const Plan plan = make_plan(graph);
  REQUIRE(plan.gradient_order.size() == 1);
  Replica replica(plan, losses, [](Dtype d) { return host_kernels(d); }, make_adamw({}), {});
  const auto copy = [&](Var var) {
    const View view = replica.weights().view(plan, var.id);
    return std::vector<float>(view.as<float>(), view.as<float>() + view.elements());
  };
  const auto table_before = copy(table), head_before = copy(head);
  const auto fill = [&](const Lane& lane, int) { fill_ids(lane.view(tokens), 5, 1); };
  const double first = replica.step(fill, 0.1).loss;
  for (int i = 0; i < 20; ++i) replica.step(fill, 0.1);
  CHECK(copy(table) == table_before);
  CHECK(copy(head) != head_before);
  CHECK(replica.step(fill, 0.1).loss < first / 2);
}

TEST_CASE("a token outside the vocabulary stops a step on any lane") {
  const Llm model = make_llm(llm_preset("tiny"), 1);
  const Plan plan = make_plan(*model.graph);
  ReplicaOptions options;
  options.lanes = 2;
  Replica replica(
      plan, model.losses, [](Dtype d) { return host_kernels(d); }, make_adamw({}), options);
  const auto fill = [&](const Lane& lane, int number) {
    fill_ids(lane.view(model.tokens), 64, 1);
    fill_ids(lane.view(model.targets), 64, 2);
    if (number == 1) lane.view(model.tokens).as<std::int32_t>()[3] = 64;
  };
  CHECK_THROWS_WITH(replica.step(fill, 1e-3), Catch::Contains("ID 64 in row 3"));
}

TEST_CASE("a NaN loss stops training") {
  const Llm model = make_llm(llm_preset("tiny"), 1);
  const Plan plan = make_plan(*model.graph);
  Replica replica(plan, model.losses, [](Dtype d) { return host_kernels(d); }, make_adamw({}), {});
  const auto fill = [&](const Lane& lane, int) {
    fill_ids(lane.view(model.tokens), 64, 1);
    fill_ids(lane.view(model.targets), 64, 2);
  };
  replica.step(fill, 1e-3);
  replica.weights().all().as<float>()[0] = std::nanf("");
  for (int i = 0; i < 64; ++i) replica.weights().all().as<float>()[64 * i] = std::nanf("");
  CHECK_THROWS_AS(replica.step(fill, 1e-3), Error);
}

}  // namespace bench::training
