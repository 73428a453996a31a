// The fastest way to split a training over devices, among those that fit into their memory.
#pragma once

#include <string>
#include <vector>

#include "results/predictions/prediction.h"
#include "results/predictions/training_memory.h"
#include "results/predictions/training_time.h"

namespace bench {

struct PlanQuestion {
  ModelShape model;
  int devices = 8, devices_per_node = 8;
  double global_batch = 0.0;  // sequences
  double sequence = 0.0;      // tokens; 0: the model's
  double tokens = 0.0;        // of the whole training; 0: only the step is predicted
  double device_memory_bytes = 0.0;
  std::string device = {};  // the product, as the source of its memory
  double usable = 0.9;      // share of the memory
  ComputeRate compute = {};
  double node_bytes_per_second = 0.0;     // of a device to others of its node, one direction
  double between_bytes_per_second = 0.0;  // of a device to other nodes
  double overlap = 0.5;                   // of the gradient exchange with the backward pass
  double optimizer_bytes = 12.0;
};

/// Tries tensor parallelism inside a node, pipelines, context and expert parallelism, ZeRO 1 to 3,
/// micro batches of 1 to 8 sequences and recomputation: the choices that fit, the fastest first.
/// Ranks are numbered as in training/parallel/model_ranks.h; a group that leaves its node has the
/// bandwidth between nodes. Throws Error(input) if
/// none does, with the smallest memory that any needs.
Prediction predict_plan(const PlanQuestion& question);

}  // namespace bench
