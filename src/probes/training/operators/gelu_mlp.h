// GPT-2's feed-forward part: gelu(x up + up_bias) down + down_bias (+ residual). One operator, so
// that a device can fuse GELU and its derivative into the epilogues of the adjacent GEMMs.
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

struct GeluMlpWeights {
  Var up, up_bias;      // [in, hidden], [1, hidden]
  Var down, down_bias;  // [hidden, out], [1, out]
};

/// x [rows, in], residual [rows, out]; y [rows, out]. 2 rows hidden (in + out) FLOPs forward.
Var gelu_mlp(Var x, const GeluMlpWeights& weights, Var residual);

}  // namespace bench::training
