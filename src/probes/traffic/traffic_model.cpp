#include "probes/traffic/traffic_model.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

using Kind = TrafficTensor::Kind;
using Tensors = std::vector<TrafficTensor>;

void add_norm(const TrafficModel& model, Tensors& tensors) {
  tensors.push_back({Kind::gain, model.width});
  if (model.biases) tensors.push_back({Kind::bias, model.width});
}

void add_linear(const TrafficModel& model, std::int64_t rows, std::int64_t columns,
                Tensors& tensors) {
  tensors.push_back({Kind::matrix, rows * columns});
  if (model.biases) tensors.push_back({Kind::bias, columns});
}

std::int64_t tokens_of(const TrafficModel& model, TensorDivision by) {
  return by.tokens > 0 ? by.tokens : model.vocabulary;
}

}  // namespace

TrafficModel traffic_model(const training::LlmShape& shape, const std::string& name) {
  return {.name = name,
          .layers = shape.layers,
          .width = shape.width,
          .heads = shape.heads,
          .kv_heads = shape.kv_heads,
          .head_dim = shape.width / shape.heads,
          .hidden = shape.hidden,
          .vocabulary = shape.vocabulary,
          .sequence = shape.sequence,
          .gated = !shape.gpt2,
          .tied_head = shape.tied_head,
          .biases = shape.gpt2,
          .positions = shape.gpt2 ? shape.sequence : 0,
          .shifted_kv_heads = shape.shifted_kv_heads};
}

TrafficModel traffic_model(const ModelShape& shape) {
  const auto whole = [](double value) { return static_cast<std::int64_t>(value); };
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::input,
                "model " + shape.name + " has " + what + ", whose traffic is not known",
                "give layers, width and the other sizes of a similar model instead");
  };
  if (shape.latent) refuse("latent attention");
  if (shape.query_key_norms || shape.attention_sinks) refuse("norms or sinks in its attention");
  if (shape.experts && shape.experts->shared > 0) refuse("shared experts");
  TrafficModel model{.name = shape.name,
                     .layers = whole(shape.layers),
                     .width = whole(shape.hidden),
                     .heads = whole(shape.heads),
                     .kv_heads = whole(shape.kv_heads),
                     .head_dim = whole(shape.head_dim),
                     .hidden = whole(shape.feed_forward),
                     .vocabulary = whole(shape.vocabulary),
                     .sequence = whole(shape.sequence),
                     .gated = shape.gated,
                     .tied_head = shape.tied_embeddings,
                     .biases = shape.biases,
                     .positions = whole(shape.positions)};
  if (!shape.experts) return model;
  model.experts = whole(shape.experts->count);
  model.active_experts = whole(shape.experts->active);
  model.expert_hidden = whole(shape.experts->feed_forward);
  model.dense_layers = whole(shape.experts->dense_layers);
  return model;
}

TrafficModel named_traffic_model(const std::string& name) {
  std::vector<std::string> names = training::llm_presets();
  if (std::ranges::find(names, name) != names.end())
    return traffic_model(training::llm_preset(name), name);
  for (const ModelShape& shape : known_models())
    if (shape.name == name) return traffic_model(shape);
  for (const std::string& known : known_model_names()) names.push_back(known);
  throw Error(ErrorKind::input,
              "unknown model '" + printable(name) + "'." + did_you_mean(name, names),
              "use one of " + join(names, ", "));
}

Tensors embedding_tensors(const TrafficModel& model, TensorDivision by) {
  Tensors tensors = {{Kind::table, tokens_of(model, by) * model.width}};
  if (model.positions > 0) tensors.push_back({Kind::table, model.positions * model.width});
  return tensors;
}

Tensors attention_tensors(const TrafficModel& model, TensorDivision by) {
  Tensors tensors;
  add_norm(model, tensors);
  const std::int64_t q = model.query_columns() / by.tensor, kv = model.kv_columns() / by.tensor;
  add_linear(model, model.width, q + 2 * kv, tensors);
  add_linear(model, q, model.width, tensors);
  return tensors;
}

Tensors feed_forward_tensors(const TrafficModel& model, std::int64_t layer, TensorDivision by) {
  Tensors tensors;
  add_norm(model, tensors);
  if (model.routes(layer)) {
    add_linear(model, model.width, model.experts, tensors);
    return tensors;
  }
  const std::int64_t hidden = model.hidden / by.tensor;
  add_linear(model, model.width, (model.gated ? 2 : 1) * hidden, tensors);
  add_linear(model, hidden, model.width, tensors);
  return tensors;
}

Tensors expert_tensors(const TrafficModel& model, std::int64_t layer, TensorDivision by) {
  Tensors tensors;
  if (!model.routes(layer)) return tensors;
  const std::int64_t hidden = model.expert_hidden / by.tensor;
  for (std::int64_t expert = 0; expert < model.experts / by.expert; ++expert) {
    add_linear(model, model.width, (model.gated ? 2 : 1) * hidden, tensors);
    add_linear(model, hidden, model.width, tensors);
  }
  return tensors;
}

Tensors head_tensors(const TrafficModel& model, TensorDivision by) {
  Tensors tensors;
  add_norm(model, tensors);
  if (!model.tied_head) tensors.push_back({Kind::matrix, model.width * tokens_of(model, by)});
  return tensors;
}

}  // namespace bench
