// A language model of training/models as a decoder needs it: its matrices packed in one type of
// weights, everything else in f32.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "inference/packed_matrix.h"
#include "training/engine/lane.h"
#include "training/kernels/functors/portable.h"
#include "training/models/llm.h"

namespace bench::inference {

/// Several threads call it.
using ParameterValues = training::LlmValues;

/// Those with which a training of this shape begins, except that the head is random like other
/// matrices: it begins at zero, and all tokens would be equally likely.
ParameterValues initial_values(const training::LlmShape& shape, std::uint64_t seed);

struct DecoderModel {
  struct Layer {
    std::vector<float> norm1, norm1_bias, norm2, norm2_bias;    // biases of GPT-2 only
    std::vector<float> wqkv_bias, wo_bias, up_bias, down_bias;  // of GPT-2 only
    PackedMatrix wqkv, wo, up, down;  // up: for Llama's block the gate and then the up matrix
  };

  training::LlmShape shape;
  WeightType type = WeightType::f32;
  /// [vocabulary, width], in bf16 unless the weights are f32; empty if the head is the embedding.
  std::vector<float> embedding = {};
  std::vector<training::Bf16> narrow_embedding = {};
  std::vector<float> positions = {};  // [sequence, width], of GPT-2
  std::vector<float> angles = {};     // [sequence, head_dim], of RoPE
  std::vector<Layer> layers = {};
  std::vector<float> norm = {}, norm_bias = {};
  PackedMatrix head = {};

  /// The input of the first layer for a token, without its position.
  void embed(std::int32_t token, float* to) const;
  /// Bytes of the matrices, which a pass reads once, whatever its number of rows.
  std::int64_t pass_bytes() const;
  /// FLOPs of the matrices for one row.
  double flops_per_row() const;
  /// Bytes of all weights, tables included.
  std::int64_t bytes() const;
};

/// Layer by layer on so many threads. Throws Error(environment) if out of memory.
DecoderModel make_decoder_model(const training::LlmShape& shape, WeightType type,
                                const ParameterValues& values, int threads = 1);

/// Bytes of such a model, without making it.
std::int64_t decoder_model_bytes(const training::LlmShape& shape, WeightType type);

/// Sets all parameters of a graph of make_llm() to the values that the model stores.
void copy_stored(const DecoderModel& model, const training::Plan& plan,
                 const training::Weights& weights);

}  // namespace bench::inference
