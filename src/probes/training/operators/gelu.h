// GELU by tanh, as GPT-2 has it (arXiv 1606.08415).
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

Var gelu(Var x);

}  // namespace bench::training
