#include "training/models/llm.h"

#include <string>

#include "core/error.h"
#include "core/names.h"
#include "training/operators/division.h"
#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

/// layers, width, hidden, heads, kv heads, sequence, vocabulary, gpt2, tied, shifted heads, theta.
const NameTable<LlmShape, 6> kLlmPresets{{{
    // Half of the heads see shifted keys: without, induction is learned late and suddenly, and
    // the time to target depends on luck.
    {{2, 64, 256, 4, 4, 64, 64, false, false, 2, 1e3}, "tiny"},
    {{8, 64, 256, 4, 4, 64, 64, false, false, 2, 1e3}, "deep"},
    {{12, 768, 2048, 12, 4, 1024, 32768, false, false, 2, 1e4}, "small"},
    {{12, 768, 3072, 12, 12, 1024, 50257, true, true, 0, 0.0}, "gpt2"},
    {{16, 2048, 8192, 32, 8, 4096, 128256, false, true, 0, 5e5}, "1b"},
    {{32, 4096, 14336, 32, 8, 8192, 128256, false, false, 0, 5e5}, "standard"},
}}};

/// Those of GPT-2 too.
class Parameters : public LlamaParameters {
 public:
  Parameters(Graph& graph, const LlmShape& shape, const LlmChanges& changes, const ModelPart& part)
      : LlamaParameters(graph, shape.width, shape.layers, changes, part),
        tied_head_(shape.tied_head) {}

  Var bias(const std::string& name, std::int64_t out) {
    return parameter(name, {1, out}, {Initial::constant(0.0), false});
  }
  Var embedding_table(std::int64_t vocabulary) {
    return LlamaParameters::embedding_table("embedding", vocabulary, initial_of_tables());
  }
  Var positions(std::int64_t sequence) {
    return parameter("positions", {sequence, width()}, {initial_of_tables()});
  }

 private:
  Initial initial_of_tables() const { return Initial::normal(tied_head_ ? deviation() : 0.5); }

  bool tied_head_;
};

Var llama_block(Var x, Parameters& p, const LlmShape& shape, const std::string& at, Var angles) {
  x = llama_attention(x, p, shape.attention(), at, angles);
  Var h = rms_norm(x, p.gain(at + "norm2"));
  return add(x, llama_feed_forward(h, p, at, shape.hidden));
}

Var gpt2_block(Var x, Parameters& p, const LlmShape& shape, const std::string& at) {
  const AttentionShape heads = shape.attention();
  const std::int64_t d = shape.width, packed = heads.packed_columns();
  Var h = layer_norm(x, p.gain(at + "norm1"), p.bias(at + "norm1.bias", d));
  Var qkv = linear(h, p.matrix(at + "wqkv", {d, packed}), {p.bias(at + "wqkv.bias", packed)});
  Var a = attention(qkv, heads);
  x = add(x, linear(a, p.matrix_into_residual(at + "wo", {d, d}), {p.bias(at + "wo.bias", d)}));
  h = layer_norm(x, p.gain(at + "norm2"), p.bias(at + "norm2.bias", d));
  GeluMlpWeights mlp;
  mlp.up = p.matrix(at + "w_up", {d, shape.hidden});
  mlp.up_bias = p.bias(at + "w_up.bias", shape.hidden);
  mlp.down = p.matrix_into_residual(at + "w_down", {shape.hidden, d});
  mlp.down_bias = p.bias(at + "w_down.bias", d);
  return gelu_mlp(h, mlp, x);
}

void check_shape(const LlmShape& shape, const ModelPart& part) {
  require(shape.heads > 0 && shape.width % shape.heads == 0, "llm",
          "width " + std::to_string(shape.width) + " is not a multiple of " +
              std::to_string(shape.heads) + " heads");
  const auto refuse = [](const std::string& what, const std::string& hint) {
    throw Error(ErrorKind::input, what, hint);
  };
  if (part.stages > shape.layers)
    refuse("a pipeline of " + std::to_string(part.stages) + " stages has more than the model's " +
               std::to_string(shape.layers) + " layers",
           "use a pp of at most " + std::to_string(shape.layers));
  if (part.chunks > shape.layers / part.stages)
    refuse(std::to_string(part.stages) + " stages of " + std::to_string(part.chunks) +
               " chunks are more than the model's " + std::to_string(shape.layers) + " layers",
           "use a vp of at most " + std::to_string(shape.layers / part.stages));
  if (part.stages > 1 && shape.tied_head)
    refuse("a model whose head is its embedding cannot be split into stages",
           "use a preset whose head is its own");
  if (part.expert_ranks > 1) refuse("llm has no experts that ep could divide", "train moe");
  if (part.tensor_ranks > 1 && shape.gpt2)
    refuse("GPT-2's blocks cannot be divided by tp", "use another preset, or pp");
  const ContextPart& context = part.context;
  if (!context.is_whole() && shape.gpt2)
    refuse("samples of GPT-2's blocks cannot be divided by cp", "use another preset, or pp");
  if (!context.is_whole() && shape.sequence % context.chunks() != 0)
    refuse("a sequence of " + std::to_string(shape.sequence) + " tokens cannot be divided into " +
               std::to_string(context.chunks()) + " chunks, two for each rank of cp " +
               std::to_string(context.ranks),
           "use a cp, or a sequence length, for which it can");
  const std::int64_t tokens = context.tokens(shape.sequence);
  if (part.sequence_parallel && tokens % part.tensor_ranks != 0)
    refuse("a sequence of " + std::to_string(tokens) + " tokens cannot be divided by tp " +
               std::to_string(part.tensor_ranks),
           "use a tp that divides it, or no sequence parallelism");
  if (part.tensor_ranks > 1 && shape.hidden % part.tensor_ranks != 0)
    refuse(std::to_string(shape.hidden) + " hidden columns cannot be divided by tp " +
               std::to_string(part.tensor_ranks),
           "use a tp that divides " + std::to_string(shape.hidden));
  if (part.tensor_ranks > shape.vocabulary)
    refuse("a vocabulary of " + std::to_string(shape.vocabulary) + " cannot be divided by tp " +
               std::to_string(part.tensor_ranks),
           "use a tp of at most " + std::to_string(shape.vocabulary));
}

/// The model from its tokens [rows, 1] to the logits of the next ones, or the part of it that one
/// rank has: then from stage.received unless the part is the first stage, and to the residual
/// stream unless it is the last. Of a divided vocabulary, the columns of the part.
Var logits_of(Var tokens, const LlmShape& shape, bool recompute, const LlmChanges& changes,
              const ModelPart& part, StageTensors& stage) {
  check_shape(shape, part);
  Graph& graph = *tokens.graph;
  Parameters p(graph, shape, changes, part);
  Var table, x;
  if (part.is_first_stage()) {
    table = p.embedding_table(shape.vocabulary);
    x = p.embedded(tokens, table, shape.vocabulary);
    if (shape.gpt2) x = add_positions(x, p.positions(shape.sequence));
  } else {
    const std::int64_t rows =
        tokens.shape().rows() / (part.sequence_parallel ? part.tensor_ranks : 1);
    x = stage.received = graph.input_with_gradient("received", {rows, shape.width});
  }
  Var angles;
  if (!shape.gpt2) angles = rope_angles(graph, shape.attention(), shape.rope_theta, part.context);
  for (int chunk = 0; chunk < part.chunks; ++chunk) {
    if (chunk > 0) stage.next_chunks.push_back(x = next_chunk(x));
    const auto [first, last] = part.layers(shape.layers, chunk);
    for (std::int64_t layer = first; layer < last; ++layer) {
      const std::string at = "layer" + std::to_string(layer) + ".";
      if (recompute) graph.begin_recompute();
      x = shape.gpt2 ? gpt2_block(x, p, shape, at) : llama_block(x, p, shape, at, angles);
      if (recompute) graph.end_recompute();
    }
  }
  if (!part.is_last_stage()) return x;
  Var h = shape.gpt2 ? layer_norm(x, p.gain("norm"), p.bias("norm.bias", shape.width))
                     : p.shared(rms_norm(x, p.gain("norm")));
  LinearOptions tied;
  tied.transposed = true;
  return shape.tied_head ? linear(h, table, tied) : linear(h, p.head("head", shape.vocabulary));
}

}  // namespace

std::vector<std::string> llm_presets() {
  std::vector<std::string> names;
  for (const auto& [shape, name] : kLlmPresets.entries) names.emplace_back(name);
  return names;
}

LlmShape llm_preset(std::string_view name) { return kLlmPresets.value(name, "llm preset"); }

AttentionShape LlmShape::attention() const {
  return {sequence, heads, kv_heads, width / heads, true, shifted_kv_heads};
}

Llm make_llm(const LlmShape& shape, std::int64_t sequences, Dtype dtype, bool recompute,
             const LlmChanges& changes, const ModelPart& part) {
  Llm model{std::make_unique<Graph>(dtype), {}, {}, {}};
  const std::int64_t rows = sequences * part.context.tokens(shape.sequence);
  model.tokens = model.graph->input("tokens", {rows, 1}, Dtype::int32);
  model.targets = model.graph->input("targets", {rows, 1}, Dtype::int32);
  const Var out = logits_of(model.tokens, shape, recompute, changes, part, model.stage);
  if (part.is_last_stage()) {
    model.losses = losses_of(out, model.targets, shape.vocabulary, part);
    return model;
  }
  const StageEnd end = end_stage(out, rows);
  model.stage.sent = end.sent;
  model.losses = end.losses;
  return model;
}

LlmPolicy make_llm_policy(const LlmShape& shape, std::int64_t sequences, double clip, Dtype dtype,
                          bool recompute) {
  LlmPolicy model{std::make_unique<Graph>(dtype), {}, {}, {}, {}};
  const std::int64_t rows = sequences * shape.sequence;
  model.tokens = model.graph->input("tokens", {rows, 1}, Dtype::int32);
  model.targets = model.graph->input("targets", {rows, 1}, Dtype::int32);
  model.terms = model.graph->input("terms", {rows, kPolicyTerms}, Dtype::f32);
  StageTensors none;
  const Var logits = logits_of(model.tokens, shape, recompute, {}, {}, none);
  model.losses = policy_loss(logits, model.targets, model.terms, clip);
  return model;
}

double llm_flops_per_token(const LlmShape& shape) {
  return 3.0 * make_llm(shape, 1).graph->forward_flops() / static_cast<double>(shape.sequence);
}

}  // namespace bench::training
