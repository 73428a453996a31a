// The memory of a device in the training of a transformer, by what it holds.
#pragma once

#include <string>

#include "core/model_shape.h"
#include "core/names.h"
#include "results/predictions/prediction.h"

namespace bench {

/// How a training is split over devices.
struct TrainingSplit {
  int tensor = 1, pipeline = 1, data = 1, context = 1, expert = 1;
  int zero = 0;  // ZeRO: 1 splits optimizer states over `data`, 2 gradients too, 3 weights too
  int interleaved = 1;  // model chunks per device of the pipeline
  int devices() const { return tensor * pipeline * data * context; }
};
/// "tp=8,pp=4,dp=2,cp=1,ep=8,zero=1,vp=2", each at most once. Throws Error(usage).
TrainingSplit training_split(const std::string& text);
std::string to_string(const TrainingSplit& split);

/// What is computed again in the backward pass instead of being kept: nothing, the attention's
/// inner tensors, or all but the inputs of layers.
enum class Recompute { none, selective, full };
inline constexpr NameTable<Recompute, 3> kRecomputes{
    {{{Recompute::none, "none"}, {Recompute::selective, "selective"}, {Recompute::full, "full"}}}};

struct TrainingMemoryQuestion {
  ModelShape model;
  TrainingSplit split = {};
  double micro_batch = 1;    // sequences
  double micro_batches = 0;  // of a step and device; 0: enough to fill the pipeline
  double sequence = 0;       // tokens; 0: the model's
  double weight_bytes = 2;   // of a parameter
  double gradient_bytes = 2;
  double optimizer_bytes = 12;  // Adam in f32: a master copy and two moments
  double activation_bytes = 2;  // of a number
  /// The optimizer's state is on a disk or in the host's memory, which a device reads and writes at
  /// this rate; 0: on the device.
  double offload_bytes_per_second = 0;
  Recompute recompute = Recompute::none;
  bool fused_attention = true;  // no square of tokens is kept
};

/// Throws Error(input) for a split that a model with samples of so many tokens does not allow.
void check_split(const ModelShape& model, const TrainingSplit& split, double sequence);

/// Bytes that one layer keeps of a micro batch on one device, without pipeline factor.
double layer_activation_bytes(const TrainingMemoryQuestion& question);

/// Of the fullest device, the first stage of the pipeline. Throws Error(input) for a split that
/// the model does not allow.
Prediction predict_training_memory(const TrainingMemoryQuestion& question);

}  // namespace bench
