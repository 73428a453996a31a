#include "tests/support/catch.h"
#include "training/engine/plan.h"
#include "training/host/host_kernels.h"
#include "training/models/llm.h"
#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

LlmShape three_layers() { return {3, 32, 48, 4, 2, 16, 40}; }

std::int64_t transient_bytes(const Plan& plan) {
  return plan.arena_bytes[static_cast<std::size_t>(Arena::transient)];
}

/// Whether any pair of buffers that are live at the same time overlaps.
int overlaps(const Plan& plan) {
  int found = 0;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Buffer &a = plan.buffers[i], &b = plan.buffers[j];
      if (a.arena != b.arena) continue;
      const bool together = a.arena != Arena::transient || (a.first <= b.last && b.first <= a.last);
      if (together && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes) ++found;
    }
  return found;
}

/// Whether some action uses a buffer outside the life it has.
int strangers(const Plan& plan) {
  int found = 0;
  for (std::size_t now = 0; now < plan.actions.size(); ++now) {
    const Action& action = plan.actions[now];
    std::vector<Slot> slots = action.inputs;
    slots.insert(slots.end(), action.saved.begin(), action.saved.end());
    slots.insert(slots.end(), action.input_gradients.begin(), action.input_gradients.end());
    slots.insert(slots.end(), {action.output, action.workspace, action.output_gradient});
    for (const Slot& slot : slots) {
      if (slot.buffer < 0) continue;
      const Buffer& buffer = plan.buffers[static_cast<std::size_t>(slot.buffer)];
      const int at = static_cast<int>(now);
      if (buffer.arena == Arena::transient && (at < buffer.first || at > buffer.last)) ++found;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("arena: tensors that are live at the same time do not overlap") {
  for (const bool gpt2 : {false, true})
    for (const bool recompute : {false, true})
      for (const bool training : {false, true}) {
        LlmShape shape = three_layers();
        shape.gpt2 = shape.tied_head = gpt2;
        if (gpt2) shape.kv_heads = shape.heads;
        const Llm model = make_llm(shape, 2, Dtype::f32, recompute);
        const Plan plan = make_plan(*model.graph, training);
        CHECK(overlaps(plan) == 0);
        CHECK(strangers(plan) == 0);
      }
}

TEST_CASE("arena: a layout that ignores lifetimes is found to overlap") {
  const Llm model = make_llm(three_layers(), 2);
  Plan plan = make_plan(*model.graph);
  for (Buffer& buffer : plan.buffers) buffer.last += 4;
  CHECK(overlaps(plan) > 0);
}

TEST_CASE("arena: peaks by label add up to a lane's memory, and dead space is reused") {
  const Llm model = make_llm(three_layers(), 2);
  const Plan plan = make_plan(*model.graph);
  std::int64_t labels = 0, arenas = 0, without_reuse = 0;
  for (const std::int64_t bytes : plan.peak_bytes()) labels += bytes;
  for (const std::int64_t bytes : plan.arena_bytes) arenas += bytes;
  for (const Buffer& buffer : plan.buffers)
    if (buffer.arena == Arena::transient) without_reuse += buffer.bytes;
  CHECK(labels == arenas);
  CHECK(transient_bytes(plan) < without_reuse * 3 / 4);
}

TEST_CASE("arena: evaluation and recomputation need less memory than training") {
  LlmShape shape = three_layers();
  shape.layers = 8;
  const Llm model = make_llm(shape, 2);
  const Llm frugal = make_llm(shape, 2, Dtype::f32, true);
  const Plan whole = make_plan(*model.graph), again = make_plan(*frugal.graph);
  CHECK(transient_bytes(make_plan(*model.graph, false)) < transient_bytes(whole) / 4);
  CHECK(transient_bytes(again) < transient_bytes(whole) / 2);
}

TEST_CASE("graph: gradients become final from the last layer to the first") {
  const Llm model = make_llm(three_layers(), 2);
  const Plan plan = make_plan(*model.graph);
  const auto& tensors = model.graph->tensors();
  REQUIRE(plan.gradient_order.size() == 3 * 6 + 3);
  const auto name = [&](std::size_t i) {
    return tensors[static_cast<std::size_t>(plan.gradient_order[i].tensor)].name;
  };
  CHECK(name(0) == "head");
  CHECK(name(1) == "norm");
  CHECK(name(2) == "layer2.w_down");
  CHECK(name(plan.gradient_order.size() - 1) == "embedding");
  for (std::size_t i = 1; i < plan.gradient_order.size(); ++i)
    CHECK(plan.gradient_order[i - 1].action <= plan.gradient_order[i].action);
}

TEST_CASE("graph: mismatched shapes are refused, naming both") {
  Graph g;
  const Var x = g.parameter("x", {4, 3}), w = g.parameter("w", {5, 6});
  CHECK_THROWS_WITH(linear(x, w), Catch::Contains("[4, 3]") && Catch::Contains("[5, 6]"));
  CHECK_THROWS_WITH(add(x, w), Catch::Contains("[4, 3]"));
  CHECK_THROWS_WITH(swiglu(x), Catch::Contains("[4, 3]"));
  CHECK_THROWS_WITH(attention(x, {2, 2, 2, 8}), Catch::Contains("48"));
  CHECK_THROWS_WITH(attention(x, {2, 3, 2, 8}), Catch::Contains("3 heads are not a multiple of 2"));
  CHECK_THROWS_WITH(attention(x, {2, 1, 1, 512}), Catch::Contains("512"));
}

TEST_CASE("graph: unused parameters and duplicate names are refused") {
  Graph g;
  const Var x = g.parameter("x", {4, 3});
  CHECK_THROWS_WITH(g.parameter("x", {4, 3}), Catch::Contains("'x'"));
  g.parameter("idle", {4, 3});
  cross_entropy(gelu(x), g.input("targets", {4, 1}, Dtype::int32));
  CHECK_THROWS_WITH(make_plan(g), Catch::Contains("'idle'"));
}

TEST_CASE("graph: a loss refuses logits that something else reads") {
  Graph g;
  const Var logits = gelu(g.parameter("x", {4, 3}));
  cross_entropy(logits, g.input("targets", {4, 1}, Dtype::int32));
  gelu(logits);
  CHECK_THROWS_WITH(make_plan(g), Catch::Contains("has another reader"));
  CHECK_NOTHROW(make_plan(g, false));
}

}  // namespace bench::training
