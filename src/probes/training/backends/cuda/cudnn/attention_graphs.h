// Attention and its gradient as the compositions of operations that cuDNN knows for a fused kernel
// (FlashAttention, arXiv 2307.08691). Which compositions those are: the operation graphs that
// NVIDIA's cudnn-frontend (1.24, scaled_dot_product_flash_attention.h) builds.
#pragma once

#include <cstdint>
#include <string>

#include "core/dtype.h"
#include "probes/training/backends/cuda/cudnn/operation_graph.h"
#include "probes/training/kernels/attention.h"

namespace bench::cudnn {

/// Ids of tensors that a caller gives memory for.
enum AttentionTensor : std::int64_t {
  kQuery = 1,  // where heads begin in packed rows
  kKey,
  kValue,
  kOutput,
  kLogSum,  // [rows, heads] in f32: the logarithm of each softmax's denominator
  kOutputGradient,
  kQueryGradient,  // where heads begin in the packed gradient
  kKeyGradient,
  kValueGradient,
  kRowSums,    // f32, as many as kLogSum: of output x output_gradient
  kQuerySums,  // f32, as many as outputs: the query's gradient while it is added up
  kScale,
  kHidden,
  kOne,
};

struct AttentionProblem {
  training::AttentionShape shape;
  std::int64_t batch = 0;  // sequences
  Dtype dtype = Dtype::bf16;
  bool operator==(const AttentionProblem&) const = default;
};

/// Why no graph is made for it; empty where one is. bf16 or f16, sequences of multiples of 128
/// (others need a mask of their own before cuDNN 9.15.1), heads of multiples of 8 up to 128, no
/// shifted keys.
std::string refused(const AttentionProblem& problem);

/// The backward kernels for chips of compute capability 8.x (89: 8.9) take kLogSum for packed heads
/// first, whatever its strides, before 9.26 (cudnn-frontend's change 304). Ours are rows first.
bool ignores_strides_of_sums(std::size_t cudnn_version, int compute_capability);

OperationGraph attention_forward_graph(const AttentionProblem& problem);
/// The gradient of queries is added up in no fixed order (atomics on kQuerySums): results differ
/// from run to run by rounding.
OperationGraph attention_backward_graph(const AttentionProblem& problem);

}  // namespace bench::cudnn
