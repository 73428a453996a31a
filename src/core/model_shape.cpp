#include "core/model_shape.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr const char* kConfig = "config.json on the Hugging Face hub";

double attention_parameters(const ModelShape& model) {
  const double h = model.hidden;
  if (model.latent) {
    const LatentAttention& a = *model.latent;
    const double query =
        h * a.query_rank + a.query_rank + a.query_rank * model.heads * (a.nope + a.rope);
    const double keys =
        h * (a.kv_rank + a.rope) + a.kv_rank + a.kv_rank * model.heads * (a.nope + a.value);
    return query + keys + model.heads * a.value * h;
  }
  const double q = model.heads * model.head_dim, kv = model.kv_heads * model.head_dim;
  double all = h * q + 2 * h * kv + q * h;
  if (model.biases || model.attention_biases) all += q + 2 * kv + h;
  if (model.query_key_norms) all += 2 * model.head_dim;
  if (model.attention_sinks) all += model.heads;
  return all;
}

double mlp_matrices(const ModelShape& model, double feed_forward) {
  return (model.gated ? 3 : 2) * model.hidden * feed_forward;
}

double mlp_parameters(const ModelShape& model) {
  double all = mlp_matrices(model, model.feed_forward);
  if (model.biases) all += (model.gated ? 2 : 1) * model.feed_forward + model.hidden;
  return all;
}

double expert_parameters(const ModelShape& model) {
  const ExpertShape& e = *model.experts;
  double one = mlp_matrices(model, e.feed_forward);
  if (e.expert_biases) one += 2 * e.feed_forward + model.hidden;
  return one;
}

double dense_layers(const ModelShape& model) {
  return model.experts ? model.experts->dense_layers : model.layers;
}
double expert_layers(const ModelShape& model) { return model.layers - dense_layers(model); }

double norm_parameters(const ModelShape& model) {
  return (model.norm_biases ? 2 : 1) * model.hidden * (2 * model.layers + 1);
}

}  // namespace

double ModelShape::parameters() const {
  double all = vocabulary * hidden * (tied_embeddings ? 1 : 2) + positions * hidden;
  all += norm_parameters(*this) + layers * attention_parameters(*this);
  all += dense_layers(*this) * mlp_parameters(*this);
  if (experts)
    all += expert_layers(*this) *
           (hidden * experts->count + (experts->router_bias ? experts->count : 0) +
            experts->shared * mlp_matrices(*this, experts->feed_forward));
  return all + routed_parameters();
}

double ModelShape::routed_parameters() const {
  return experts ? expert_layers(*this) * experts->count * expert_parameters(*this) : 0;
}

double ModelShape::active_matrix_parameters() const {
  double all = vocabulary * hidden + layers * attention_parameters(*this) +
               dense_layers(*this) * mlp_matrices(*this, feed_forward);
  if (experts)
    all += expert_layers(*this) *
           (hidden * experts->count +
            (experts->active + experts->shared) * mlp_matrices(*this, experts->feed_forward));
  return all;
}

double ModelShape::query_dimension() const {
  return latent ? heads * (latent->nope + latent->rope) : heads * head_dim;
}
double ModelShape::value_dimension() const {
  return latent ? heads * latent->value : heads * head_dim;
}
double ModelShape::kv_dimension() const {
  return latent ? heads * (latent->nope + latent->rope) : kv_heads * head_dim;
}

double ModelShape::training_flops_per_token(double tokens) const {
  return 6 * active_matrix_parameters() +
         3 * layers * tokens * (query_dimension() + value_dimension());
}

double ModelShape::cache_bytes_per_token(double bytes_per_number) const {
  const double numbers = latent ? latent->kv_rank + latent->rope : 2 * kv_heads * head_dim;
  return layers * numbers * bytes_per_number;
}

namespace {

ModelShape llama(const char* name, double layers, double hidden, double heads, double kv_heads,
                 double feed_forward, double vocabulary, double sequence) {
  return {.name = name,
          .source = kConfig,
          .layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = kv_heads,
          .head_dim = hidden / heads,
          .feed_forward = feed_forward,
          .vocabulary = vocabulary,
          .sequence = sequence};
}

ModelShape gpt(const char* name, const char* source, double layers, double hidden, double heads,
               double vocabulary, double sequence) {
  ModelShape model = llama(name, layers, hidden, heads, heads, 4 * hidden, vocabulary, sequence);
  model.source = source;
  model.gated = false;
  model.tied_embeddings = model.biases = model.norm_biases = true;
  model.positions = sequence;
  return model;
}

ModelShape with_experts(ModelShape model, ExpertShape experts) {
  model.experts = experts;
  return model;
}

ModelShape gpt_oss(const char* name, double layers, double experts) {
  ModelShape model = llama(name, layers, 2880, 64, 8, 2880, 201'088, 4096);
  model.head_dim = 64;
  model.attention_biases = model.attention_sinks = true;
  return with_experts(model, {.count = experts,
                              .active = 4,
                              .feed_forward = 2880,
                              .router_bias = true,
                              .expert_biases = true});
}

ModelShape qwen3_32b() {
  ModelShape model = llama("qwen3-32b", 64, 5120, 64, 8, 25'600, 151'936, 4096);
  model.head_dim = 128;
  model.query_key_norms = true;
  return model;
}

ModelShape deepseek_v3() {
  ModelShape model = llama("deepseek-v3", 61, 7168, 128, 128, 18'432, 129'280, 4096);
  model.source = "arXiv 2412.19437 and its config.json, without multi-token prediction";
  model.latent = {.kv_rank = 512, .query_rank = 1536, .rope = 64, .nope = 128, .value = 128};
  return with_experts(model, {.count = 256,
                              .active = 8,
                              .shared = 1,
                              .feed_forward = 2048,
                              .dense_layers = 3,
                              .router_bias = true});
}

ModelShape read_model_file(const std::filesystem::path& path) {
  const Json json = Schema::load(schema_path("model")).check(read_json(path), path.string());
  const auto number = [](const Json& from, const char* key) { return from.at(key).get<double>(); };
  const auto flag = [&](const char* key) { return json.at(key).get<bool>(); };
  ModelShape model{.name = json.at("name"),
                   .source = json.at("source"),
                   .layers = number(json, "layers"),
                   .hidden = number(json, "hidden"),
                   .heads = number(json, "heads"),
                   .kv_heads = number(json, "kv_heads"),
                   .head_dim = number(json, "head_dim"),
                   .feed_forward = number(json, "feed_forward"),
                   .gated = flag("gated"),
                   .vocabulary = number(json, "vocabulary"),
                   .tied_embeddings = flag("tied_embeddings"),
                   .positions = number(json, "positions"),
                   .biases = flag("biases"),
                   .attention_biases = flag("attention_biases"),
                   .norm_biases = flag("norm_biases"),
                   .query_key_norms = flag("query_key_norms"),
                   .sequence = number(json, "sequence")};
  if (model.kv_heads == 0) model.kv_heads = model.heads;
  if (model.head_dim == 0) model.head_dim = model.hidden / model.heads;
  if (const auto found = json.find("experts"); found != json.end())
    model.experts = ExpertShape{.count = number(*found, "count"),
                                .active = number(*found, "active"),
                                .shared = number(*found, "shared"),
                                .feed_forward = number(*found, "feed_forward"),
                                .dense_layers = number(*found, "dense_layers")};
  if (const auto found = json.find("latent_attention"); found != json.end())
    model.latent = LatentAttention{.kv_rank = number(*found, "kv_rank"),
                                   .query_rank = number(*found, "query_rank"),
                                   .rope = number(*found, "rope"),
                                   .nope = number(*found, "nope"),
                                   .value = number(*found, "value")};
  return model;
}

constexpr const char* kGpt2 = "Radford et al. 2019, openai/gpt-2";
constexpr const char* kGpt3 = "Brown et al. 2020, arXiv 2005.14165, table 2.1";

}  // namespace

const std::vector<ModelShape>& known_models() {
  static const std::vector<ModelShape> models = {
      gpt("gpt2-124m", kGpt2, 12, 768, 12, 50'257, 1024),
      gpt("gpt2-1.5b", kGpt2, 48, 1600, 25, 50'257, 1024),
      gpt("gpt3-175b", kGpt3, 96, 12'288, 96, 50'257, 2048),
      llama("llama2-7b", 32, 4096, 32, 32, 11'008, 32'000, 4096),
      llama("llama2-70b", 80, 8192, 64, 8, 28'672, 32'000, 4096),
      llama("llama3-8b", 32, 4096, 32, 8, 14'336, 128'256, 8192),
      llama("llama3-70b", 80, 8192, 64, 8, 28'672, 128'256, 8192),
      llama("llama3-405b", 126, 16'384, 128, 8, 53'248, 128'256, 8192),
      llama("mistral-7b", 32, 4096, 32, 8, 14'336, 32'000, 8192),
      with_experts(llama("mixtral-8x7b", 32, 4096, 32, 8, 14'336, 32'000, 8192),
                   {.count = 8, .active = 2, .feed_forward = 14'336}),
      qwen3_32b(),
      gpt_oss("gpt-oss-20b", 24, 32),
      gpt_oss("gpt-oss-120b", 36, 128),
      deepseek_v3(),
  };
  return models;
}

std::vector<std::string> known_model_names() {
  std::vector<std::string> names;
  for (const ModelShape& model : known_models()) names.push_back(model.name);
  return names;
}

ModelShape model_shape(const std::string& name_or_file) {
  const auto& models = known_models();
  const auto found = std::ranges::find(models, name_or_file, &ModelShape::name);
  if (found != models.end()) return *found;
  if (!std::filesystem::exists(name_or_file))
    throw Error(
        ErrorKind::input,
        "unknown model '" + printable(name_or_file) + "'." +
            did_you_mean(name_or_file, known_model_names()),
        "name one of " + join(known_model_names(), ", ") + ", or a JSON file (schemas/model.json)");
  return read_model_file(name_or_file);
}

}  // namespace bench
