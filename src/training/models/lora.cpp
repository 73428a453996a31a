#include "training/models/lora.h"

#include <bit>
#include <cmath>

#include "core/names.h"
#include "training/operators/linear.h"

namespace bench::training {
namespace {

/// The base, rank, alpha. MLPerf's llama2_70b_lora: rank 16, alpha 32.
const NameTable<LoraShape, 4>& presets() {
  static const NameTable<LoraShape, 4> all{{{
      {{llm_preset("tiny"), 4, 8}, "tiny"},
      {{llm_preset("small"), 16, 32}, "small"},
      {{llm_preset("standard"), 16, 32}, "standard"},
      {{{80, 8192, 28672, 64, 8, 8192, 32000, false, false, 0, 1e4}, 16, 32}, "70b"},
  }}};
  return all;
}

void check_lora(const LoraShape& shape) {
  require(!shape.base.gpt2, "lora", "GPT-2's architecture has no adapters");
  require(shape.rank > 0 && shape.alpha >= shape.rank && shape.alpha % shape.rank == 0 &&
              std::has_single_bit(static_cast<std::uint64_t>(shape.alpha / shape.rank)),
          "lora",
          "alpha " + std::to_string(shape.alpha) + " is not rank " + std::to_string(shape.rank) +
              " times a power of two");
}

/// x w + residual + (alpha / rank) (x A) B.
Var adapted(const LoraShape& shape, Var x, Var w, Var residual) {
  Graph& graph = *x.graph;
  const std::int64_t in = w.shape().rows(), out = w.shape().columns();
  const std::string name = w.name();
  const double deviation = 1.0 / std::sqrt(static_cast<double>(in));
  const Var a = graph.parameter(name + ".lora_a", {in, shape.rank}, {Initial::normal(deviation)});
  const Var b = graph.parameter(name + ".lora_b", {shape.rank, out}, {Initial::constant(0.0)});
  Var y = linear(x, w);
  if (residual) y = add(residual, y);
  Var u = linear(x, a);
  for (std::int64_t scale = shape.alpha / shape.rank; scale > 1; scale /= 2) u = add(u, u);
  return add(y, linear(u, b));
}

}  // namespace

LoraShape lora_preset(std::string_view name) { return presets().value(name, "lora preset"); }

std::vector<std::string> lora_presets() {
  std::vector<std::string> names;
  for (const auto& [shape, name] : presets().entries) names.emplace_back(name);
  return names;
}

Llm make_lora(const LoraShape& shape, std::int64_t sequences, Dtype dtype, bool recompute) {
  check_lora(shape);
  LlmChanges changes;
  changes.parameter = [&shape](const std::string& name, ParameterOptions options) {
    options.trainable = false;
    // Without a base, behind the head's zeros of pretraining no adapter would have a gradient.
    if (name == "head")
      options.initial = Initial::normal(1.0 / std::sqrt(static_cast<double>(shape.base.width)));
    return options;
  };
  changes.attention_projection = [&shape](Var x, Var w, Var residual) {
    return adapted(shape, x, w, residual);
  };
  return make_llm(shape.base, sequences, dtype, recompute, changes);
}

double lora_flops_per_token(const LoraShape& shape) {
  return make_lora(shape, 1).graph->training_flops() / static_cast<double>(shape.base.sequence);
}

}  // namespace bench::training
