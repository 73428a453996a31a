// The shape of a transformer, as far as the traffic of its training follows from it: its tensors,
// layer by layer, and the GEMMs that stand in for its computation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model_shape.h"
#include "training/models/llm.h"

namespace bench {

struct TrafficModel {
  std::string name;
  std::int64_t layers = 0, width = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t hidden = 0;  // of the feed-forward part
  std::int64_t vocabulary = 0, sequence = 0;
  bool gated = true;                  // SwiGLU: gate and up projection, else up alone
  bool tied_head = false;             // the head is the embedding
  bool biases = false;                // of linear layers and norms
  std::int64_t positions = 0;         // learned ones
  std::int64_t shifted_kv_heads = 0;  // of keys at the position before (AttentionShape)

  // Routed experts in every layer from `dense_layers` on.
  std::int64_t experts = 0, active_experts = 0, expert_hidden = 0;
  std::int64_t dense_layers = 0;

  std::int64_t query_columns() const { return heads * head_dim; }
  std::int64_t kv_columns() const { return kv_heads * head_dim; }
  bool routes(std::int64_t layer) const { return experts > 0 && layer >= dense_layers; }
};

TrafficModel traffic_model(const training::LlmShape& shape, const std::string& name);
/// Throws Error(input) for shapes whose tensors this does not know: latent attention, shared
/// experts, extra tensors of attention.
TrafficModel traffic_model(const ModelShape& shape);
/// A preset of the workload llm, or a public model (core/model_shape.h). Throws Error(input) with
/// the known names.
TrafficModel named_traffic_model(const std::string& name);

/// How one rank has the model.
struct TensorDivision {
  std::int64_t tensor = 1;  // ranks that divide matrices
  std::int64_t tokens = 0;  // of the vocabulary, which they divide too; 0: all
  std::int64_t expert = 1;  // ranks that divide experts
};

/// A parameter of one rank.
struct TrafficTensor {
  enum class Kind { table, gain, matrix, bias } kind = Kind::matrix;
  std::int64_t elements = 0;
};

// Parameters in the order in which a forward pass uses them.
std::vector<TrafficTensor> embedding_tensors(const TrafficModel& model, TensorDivision by);
/// Norm and projections of attention: norm, q k v, output.
std::vector<TrafficTensor> attention_tensors(const TrafficModel& model, TensorDivision by);
/// Norm and matrices; of a layer with experts norm and router.
std::vector<TrafficTensor> feed_forward_tensors(const TrafficModel& model, std::int64_t layer,
                                                TensorDivision by);
/// Of the experts that one rank has; none in a dense layer.
std::vector<TrafficTensor> expert_tensors(const TrafficModel& model, std::int64_t layer,
                                          TensorDivision by);
/// Last norm and head.
std::vector<TrafficTensor> head_tensors(const TrafficModel& model, TensorDivision by);

}  // namespace bench
