// What serving a language model needs, and the least time that a token can take.
#pragma once

#include "core/model_shape.h"
#include "results/predictions/prediction.h"

namespace bench {

struct ServeQuestion {
  ModelShape model;
  int devices = 1;  // over which weights and cache are split
  double device_memory_bytes = 0.0;
  double device_bytes_per_second = 0.0;  // of its memory
  double device_flops = 0.0;             // peak, for the dtype of the products; 0: unknown
  std::string device_source = {};
  double weight_bytes = 2.0;  // of a parameter
  double cache_bytes = 2.0;   // of a number
  double usable = 0.9;        // share of the memory
  double context = 4096.0;    // tokens of each sequence
  double batch = 1.0;         // sequences at once
  double bound_s = 0.0;       // on the time of a token; 0: none
  /// Speculative decoding: tokens drafted, the chance that one is accepted, cost of drafting one
  /// relative to a step of the model. 0 drafted: none.
  double drafted = 0.0, accepted = 0.0, draft_cost = 0.0;
};

/// The least time of a token: weights that a step reads, and the caches of all sequences, through
/// the memory, or the operations at peak, whichever is longer. Throws Error(input) where the
/// weights do not fit.
Prediction predict_serve(const ServeQuestion& question);

/// Tokens per step of the model: (1 - a^(k+1)) / (1 - a). Leviathan et al. 2023, eq. 1.
double tokens_per_verification(double accepted, double drafted);

struct FleetQuestion {
  double tokens_per_second = 0.0;  // wanted in all
  double replica_tokens_per_second = 0.0;
  int replica_devices = 1;
  double use = 0.7;  // of a replica at most, so that queues stay short
  double device_mtbf_s = 0.0;
  double repair_s = 0.0;
  double shortfall = 0.001;  // share of the time in which too few replicas may be up
};

/// Devices so that enough replicas are up but for a small share of the time (binomial).
Prediction predict_fleet(const FleetQuestion& question);

}  // namespace bench
