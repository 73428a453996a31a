// Diffusion transformers with two streams (MM-DiT, arXiv 2403.03206), as in FLUX.1: the words of a
// caption and the patches of a noisy image go through blocks with weights of their own and joint
// attention, then as one sequence through blocks with common weights. The time enters by the shift,
// scale and gate of every block. The model predicts the velocity of rectified flow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "training/engine/graph.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

struct FlowShape {
  std::int64_t double_blocks = 0, single_blocks = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t hidden = 0;      // of a block's feed-forward part
  std::int64_t words = 0;       // of a caption
  std::int64_t vocabulary = 0;  // of words
  std::int64_t side = 0;        // pixels of rows and columns
  std::int64_t channels = 0;    // of a pixel
  std::int64_t patch = 0;       // pixels of rows and columns that make one token
  std::int64_t times = 0;       // numbers that describe the time
  double time_scale = 0.0;      // the highest of their frequencies
  double rope_theta = 0.0;

  std::int64_t patches() const { return (side / patch) * (side / patch); }
  std::int64_t patch_columns() const { return patch * patch * channels; }
  /// Of words and patches together.
  AttentionShape attention() const;
};

/// tiny, small, standard, flux (the shape of FLUX.1).
std::vector<std::string> flow_presets();
/// Throws Error(input) for another name, listing these.
FlowShape flow_preset(std::string_view name);

struct Flow {
  std::unique_ptr<Graph> graph;
  Var words;     // int32 [samples words, 1]
  Var patches;   // [samples patches, patch columns], of the noisy image
  Var times;     // [samples, times]
  Var targets;   // of the shape of patches: the velocity
  Var velocity;  // of the same shape, as the model predicts it
  Var losses;    // one per patch: the mean squared error of its elements
};

/// Throws Error(internal) for sizes that do not divide each other, and without a block of each
/// kind.
Flow make_flow(const FlowShape& shape, std::int64_t samples, Dtype dtype = Dtype::f32,
               bool recompute = false);

/// Forward and backward: three times the GEMMs of a forward pass.
double flow_flops_per_sample(const FlowShape& shape);

/// The numbers that describe a time in [0, 1), as in FLUX.1: cosines, then sines, of `scale` x time
/// x 10000^(-i/h), i < h = `count` / 2. `count` is even.
void describe_time(double time, double scale, std::int64_t count, double* numbers);

}  // namespace bench::training
