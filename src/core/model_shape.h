// The shape of a transformer, of which parameters, floating-point operations and caches follow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace bench {

/// Experts of which a router picks a few for each token.
struct ExpertShape {
  double count = 0, active = 0, shared = 0;
  double feed_forward = 0;
  double dense_layers = 0;  // the first ones, without experts
  bool router_bias = false;
  bool expert_biases = false;
};

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): a low-rank cache for all heads.
struct LatentAttention {
  double kv_rank = 0, query_rank = 0;
  double rope = 0, nope = 0, value = 0;  // of a head
};

struct ModelShape {
  std::string name;
  std::string source;  // where the numbers are from
  double layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0;
  double feed_forward = 0;
  bool gated = true;  // SwiGLU: three matrices instead of two
  double vocabulary = 0;
  bool tied_embeddings = false;
  double positions = 0;  // learned ones
  bool biases = false;   // of all linear layers
  bool attention_biases = false;
  bool norm_biases = false;  // LayerNorm instead of RMSNorm
  bool query_key_norms = false;
  bool attention_sinks = false;
  double sequence = 0;  // tokens of a training sequence, as published
  std::optional<ExpertShape> experts = {};
  std::optional<LatentAttention> latent = {};

  /// Tokens of a sequence: `given`, or the published number if it is 0.
  double tokens_or(double given) const { return given > 0 ? given : sequence; }

  double parameters() const;
  /// Of those, in experts that a router picks from: expert parallelism splits them.
  double routed_parameters() const;
  /// Those that one token passes through, without the embedding that is looked up.
  double active_matrix_parameters() const;
  /// Forward and backward, of one token in a causal sequence: 6 x active parameters + 6 x layers x
  /// tokens x (query + value dimensions), half of the full square of attention.
  double training_flops_per_token(double sequence) const;
  /// Of keys and values of one token, at so many bytes a number.
  double cache_bytes_per_token(double bytes_per_number) const;

  double query_dimension() const;  // heads x head_dim, or those of latent attention
  double value_dimension() const;
  double kv_dimension() const;  // of keys or values: what is kept while training
};

/// Public models.
const std::vector<ModelShape>& known_models();
std::vector<std::string> known_model_names();
/// By name, or from a JSON file with the members' names as keys (schemas/model.json). Throws
/// Error(input).
ModelShape model_shape(const std::string& name_or_file);

}  // namespace bench
