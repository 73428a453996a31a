// Operators made of GEMMs, and the sum of two tensors, which a GEMM can include.
// All operators check the shapes of their inputs and throw Error(internal) with both; the rows of
// an activation are the tokens of the batch, sequence by sequence.
#pragma once

#include "training/engine/graph.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

struct LinearOptions {
  Var bias = {};            // [1, out]
  Var residual = {};        // [rows, out], added to the result by the same kernel
  bool transposed = false;  // w is [out, in]: a tied head
};

/// y = x w (+ bias) (+ residual), or x w^T for a table that is also the embedding's. x [rows, in],
/// w [in, out]; y [rows, out]. 2 rows in out FLOPs forward.
Var linear(Var x, Var w, const LinearOptions& options = {});

/// The elementwise sum of two tensors of one shape. If b is the result of the graph's last linear,
/// and that has no residual yet, the sum is fused into its GEMM.
Var add(Var a, Var b);

struct GeluMlpWeights {
  Var up, up_bias;      // [in, hidden], [1, hidden]
  Var down, down_bias;  // [hidden, out], [1, out]
};

/// GPT-2's feed-forward part: gelu(x up + up_bias) down + down_bias + residual. One operator, so
/// that a device can fuse GELU and its derivative into the epilogues of the adjacent GEMMs. x
/// [rows, in], residual [rows, out]; y [rows, out]. 2 rows hidden (in + out) FLOPs forward.
Var gelu_mlp(Var x, const GeluMlpWeights& weights, Var residual);

/// multiply() with a GELU step: fused if the device supports it, else two kernels.
void multiply_gelu(const KernelSet& kernels, GemmOptions product, View a, View b, View c);

}  // namespace bench::training
