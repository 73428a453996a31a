#include "training/models/flow.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/names.h"
#include "training/models/llama.h"
#include "training/operators/diffusion.h"
#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

/// double and single blocks, width, heads, hidden, words, vocabulary, side, channels, patch, times,
/// their scale, theta.
const NameTable<FlowShape, 4> kFlowPresets{{{
    {{1, 1, 64, 4, 128, 3, 22, 8, 4, 2, 32, 10.0, 100.0}, "tiny"},
    {{4, 8, 768, 12, 3072, 24, 90, 32, 4, 2, 256, 1000.0, 1e4}, "small"},
    {{12, 24, 2048, 16, 8192, 96, 90, 32, 16, 2, 256, 1000.0, 1e4}, "standard"},
    {{19, 38, 3072, 24, 12288, 256, 90, 32, 16, 2, 256, 1000.0, 1e4}, "flux"},
}}};

/// Parameters by name, and the time's vector, from which every block takes shift, scale and gate.
class FlowParameters : public LlamaParameters {
 public:
  FlowParameters(Graph& graph, const FlowShape& shape)
      : LlamaParameters(graph, shape.width, shape.double_blocks + shape.single_blocks) {}

  /// x W + b.
  Var linear_of(Var x, const std::string& name, std::int64_t out) {
    return linear(x, matrix(name, {x.shape().columns(), out}), {bias(name, out)});
  }
  Var linear_into_residual(Var x, const std::string& name) {
    return linear(x, matrix_into_residual(name, {x.shape().columns(), width()}),
                  {bias(name, width())});
  }
  Var bias(const std::string& name, std::int64_t out) {
    return parameter(name + ".bias", {1, out}, {Initial::constant(0.0), false});
  }
  /// The norm of x, shifted and scaled by the time; both start at zero.
  Var adaptive_norm(Var x, const std::string& name) {
    const Var normal = layer_norm(x, gain(name), bias(name, width()));
    const std::string by = name + ".modulation";
    const Var w = parameter(by, {width(), 2 * width()}, {Initial::constant(0.0)});
    return modulate(normal, linear(time, w, {bias(by, 2 * width())}));
  }
  /// Gates do not start at zero, as adaLN-zero's do: words are behind several, and the product of
  /// their gradients would stay below AdamW's epsilon in the first steps.
  Var gated(Var x, Var part, const std::string& name) {
    return gated_add(x, part, linear_of(time, name + ".gate", width()));
  }

  Var time = {};
};

/// Words turn by their place in the caption, patches by their row and column: [sequence, head_dim]
/// of cosines, then sines.
Var flow_angles(Graph& graph, const FlowShape& shape) {
  const AttentionShape heads = shape.attention();
  const std::int64_t half = heads.head_dim / 2, across = shape.side / shape.patch;
  const std::int64_t of_words = std::max<std::int64_t>(half / 4, 1);
  const std::int64_t of_rows = (half - of_words) / 2;
  std::vector<double> values(static_cast<std::size_t>(heads.sequence * heads.head_dim));
  for (std::int64_t i = 0; i < heads.sequence; ++i) {
    const std::int64_t number = i - shape.words;
    const std::array<std::int64_t, 3> place =
        number < 0 ? std::array<std::int64_t, 3>{i, 0, 0}
                   : std::array<std::int64_t, 3>{0, number / across, number % across};
    const std::array<std::int64_t, 3> counts{of_words, of_rows, half - of_words - of_rows};
    std::int64_t pair = 0;
    for (std::size_t axis = 0; axis < place.size(); ++axis)
      for (std::int64_t k = 0; k < counts.at(axis); ++k, ++pair) {
        const double angle = static_cast<double>(place.at(axis)) *
                             std::pow(shape.rope_theta, -static_cast<double>(k) /
                                                            static_cast<double>(counts.at(axis)));
        const auto at = static_cast<std::size_t>(i * heads.head_dim + pair);
        values[at] = std::cos(angle);
        values[at + static_cast<std::size_t>(half)] = std::sin(angle);
      }
  }
  return graph.constant("rope.angles", {heads.sequence, heads.head_dim}, std::move(values));
}

Var flow_feed_forward(Var h, FlowParameters& p, const std::string& at, std::int64_t hidden) {
  return p.linear_into_residual(gelu(p.linear_of(h, at + "w_up", hidden)), at + "w_down");
}

struct Streams {
  Var words, patches;
};

/// Weights of their own, joint attention.
Streams double_block(const Streams& x, FlowParameters& p, const FlowShape& shape,
                     const std::string& at, Var angles) {
  const AttentionShape heads = shape.attention();
  const std::int64_t samples = x.words.shape().rows() / shape.words;
  const std::array<Var, 2> before{x.words, x.patches};
  const std::array<std::int64_t, 2> counts{shape.words, shape.patches()};
  const std::array<std::string, 2> names{at + "words.", at + "patches."};
  std::array<Var, 2> qkv;
  for (std::size_t i = 0; i < before.size(); ++i)
    qkv.at(i) = p.linear_of(p.adaptive_norm(before.at(i), names.at(i) + "norm1"),
                            names.at(i) + "wqkv", heads.packed_columns());
  const Var packed = join_sequences(qkv[0], qkv[1], samples);
  const Var a = attention(rope(packed, angles, heads), heads);
  std::array<Var, 2> after;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::string& name = names.at(i);
    const Var own = part_of_sequences(a, samples, i == 0 ? 0 : counts[0], counts.at(i));
    const Var y =
        p.gated(before.at(i), p.linear_into_residual(own, name + "wo"), name + "attention");
    const Var h = p.adaptive_norm(y, name + "norm2");
    after.at(i) = p.gated(y, flow_feed_forward(h, p, name, shape.hidden), name + "feed_forward");
  }
  return {after[0], after[1]};
}

/// Attention and feed-forward part side by side, of words and patches in one sequence.
Var single_block(Var x, FlowParameters& p, const FlowShape& shape, const std::string& at,
                 Var angles) {
  const AttentionShape heads = shape.attention();
  const Var h = p.adaptive_norm(x, at + "norm");
  const Var qkv = p.linear_of(h, at + "wqkv", heads.packed_columns());
  const Var a = attention(rope(qkv, angles, heads), heads);
  const Var made = flow_feed_forward(h, p, at, shape.hidden);
  const Var attended =
      linear(a, p.matrix_into_residual(at + "wo", {heads.output_columns(), shape.width}));
  return p.gated(x, add(made, attended), at + "block");
}

void check_flow(const FlowShape& shape) {
  require(shape.patch > 0 && shape.side % shape.patch == 0, "flow",
          "a side of " + std::to_string(shape.side) + " is not a multiple of patches of " +
              std::to_string(shape.patch));
  require(shape.heads > 0 && shape.width % shape.heads == 0 && shape.width / shape.heads % 2 == 0,
          "flow",
          "width " + std::to_string(shape.width) + " is not an even multiple of " +
              std::to_string(shape.heads) + " heads");
  require(shape.attention().head_dim >= 6, "flow", "heads of fewer than three pairs to rotate");
  // The last block must read the words, or weights of theirs would have no gradient.
  require(shape.double_blocks > 0 && shape.single_blocks > 0, "flow",
          "the model needs a double and a single block");
}

}  // namespace

std::vector<std::string> flow_presets() {
  std::vector<std::string> names;
  for (const auto& [shape, name] : kFlowPresets.entries) names.emplace_back(name);
  return names;
}

FlowShape flow_preset(std::string_view name) { return kFlowPresets.value(name, "flow preset"); }

AttentionShape FlowShape::attention() const {
  return {words + patches(), heads, heads, width / heads, false, 0};
}

Flow make_flow(const FlowShape& shape, std::int64_t samples, Dtype dtype, bool recompute) {
  check_flow(shape);
  Flow model{std::make_unique<Graph>(dtype), {}, {}, {}, {}, {}, {}};
  Graph& graph = *model.graph;
  FlowParameters p(graph, shape);
  const Shape image{samples * shape.patches(), shape.patch_columns()};
  model.words = graph.input("words", {samples * shape.words, 1}, Dtype::int32);
  model.patches = graph.input("patches", image, dtype);
  model.times = graph.input("times", {samples, shape.times}, dtype);
  model.targets = graph.input("targets", image, dtype);

  p.time =
      gelu(p.linear_of(gelu(p.linear_of(model.times, "time1", shape.width)), "time2", shape.width));
  const auto table = [&](const std::string& name, std::int64_t rows) {
    return p.parameter(name, {rows, shape.width}, {Initial::normal(0.5)});
  };
  Streams x{embedding(model.words, table("embedding", shape.vocabulary)),
            add_positions(p.linear_of(model.patches, "patch", shape.width),
                          table("positions", shape.patches()))};
  const Var angles = flow_angles(graph, shape);
  for (std::int64_t block = 0; block < shape.double_blocks; ++block) {
    if (recompute) graph.begin_recompute();
    x = double_block(x, p, shape, "double" + std::to_string(block) + ".", angles);
    if (recompute) graph.end_recompute();
  }
  Var all = join_sequences(x.words, x.patches, samples);
  for (std::int64_t block = 0; block < shape.single_blocks; ++block) {
    if (recompute) graph.begin_recompute();
    all = single_block(all, p, shape, "single" + std::to_string(block) + ".", angles);
    if (recompute) graph.end_recompute();
  }
  const Var patches = part_of_sequences(all, samples, shape.words, shape.patches());
  const Var last = p.adaptive_norm(patches, "norm");
  const std::int64_t columns = shape.patch_columns();
  model.velocity = linear(last, p.head("head", columns), {p.bias("head", columns)});
  model.losses = squared_error(model.velocity, model.targets);
  return model;
}

double flow_flops_per_sample(const FlowShape& shape) {
  return 3.0 * make_flow(shape, 1).graph->forward_flops();
}

void describe_time(double time, double scale, std::int64_t count, double* numbers) {
  const std::int64_t half = count / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const double turn =
        scale * time * std::pow(1e4, -static_cast<double>(i) / static_cast<double>(half));
    numbers[i] = std::cos(turn);
    numbers[half + i] = std::sin(turn);
  }
}

}  // namespace bench::training
