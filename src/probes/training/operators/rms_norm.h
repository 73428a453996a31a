// y = x gain / sqrt(mean(x^2) + epsilon), row by row (arXiv 1910.07467).
#pragma once

#include "probes/training/engine/graph.h"

namespace bench::training {

/// x [rows, d], gain [1, d].
Var rms_norm(Var x, Var gain, double epsilon = 1e-5);

}  // namespace bench::training
