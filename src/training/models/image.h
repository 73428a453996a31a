// Image classifiers: residual networks (arXiv 1512.03385, in the form v1.5, whose bottlenecks
// stride in their 3 x 3 convolution) with group norms, and vision transformers (arXiv 2010.11929)
// with the mean of all patches for the head (arXiv 2205.01580).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "training/engine/graph.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

struct ResidualStage {
  std::int64_t blocks = 0, width = 0;  // width: of the 3 x 3 convolutions
};

struct ResidualNetwork {
  std::int64_t stem = 0, stem_kernel = 3, stem_stride = 1;  // stem: channels
  bool pool = false;        // a pooling of 3 x 3 pixels and stride 2 after the stem
  bool bottleneck = false;  // 1 x 1, 3 x 3, 1 x 1 to four times the width; else 3 x 3 twice
  std::vector<ResidualStage> stages = {};  // each but the first halves the sides
  std::int64_t norm_groups = 1;
  double last_gain = 1.0;  // of a block's last norm, at first; 0: blocks start as identities
};

struct VisionTransformer {
  std::int64_t layers = 0, width = 0, heads = 0, hidden = 0;
  std::int64_t patch = 0;  // pixels of rows and columns
};

struct ClassifierShape {
  std::int64_t side = 0, classes = 0;
  double smoothing = 0.0;  // of labels
  std::variant<ResidualNetwork, VisionTransformer> network = {};

  std::int64_t pixels() const { return side * side; }
};
inline constexpr std::int64_t kImageChannels = 3;

/// tiny, tiny_vit, small, resnet50 (the shape of MLPerf's benchmark), vit_b16.
std::vector<std::string> image_presets();
/// Throws Error(input) for another name, listing these.
ClassifierShape image_preset(std::string_view name);

struct Classifier {
  std::unique_ptr<Graph> graph;
  Var images;   // [samples pixels, 3]
  Var targets;  // int32 [samples, 1]
  Var logits;   // [samples, classes]
  Var losses;   // one per image
};

/// Throws Error(internal) for sizes that do not divide each other.
Classifier make_classifier(const ClassifierShape& shape, std::int64_t samples,
                           Dtype dtype = Dtype::f32, bool recompute = false);

/// Forward and backward: three times the GEMMs of a forward pass.
double image_flops_per_sample(const ClassifierShape& shape);

}  // namespace bench::training
