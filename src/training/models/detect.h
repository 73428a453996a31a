// One-stage detectors after RetinaNet (arXiv 1708.02002): a convolutional network, a feature
// pyramid on its last stages, and two heads that all levels share, which give each anchor a logit
// per class and four numbers of its box.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "training/detection/anchors.h"
#include "training/engine/graph.h"
#include "training/operators/detection.h"

namespace bench::training {

/// The parts of a stage.
enum class StageBlock {
  plain,      // a convolution with norm and ReLU
  residual,   // two, added to the input
  bottleneck  // 1 x 1, 3 x 3 in groups, 1 x 1, added to the input
};

struct DetectStage {
  std::int64_t blocks = 0, width = 0;
  std::int64_t inner = 0;  // channels of a bottleneck's 3 x 3 convolution
};

struct DetectShape {
  std::int64_t side = 0, channels = 0, classes = 0;
  std::int64_t stem = 0, stem_kernel = 0;  // channels; its stride is 2
  bool stem_twice = false;                 // a second convolution of stride 2; stage 1 has stride 1
  StageBlock block = StageBlock::plain;
  std::vector<DetectStage> stages = {};
  std::int64_t groups = 1;          // of a bottleneck's 3 x 3 convolution
  std::int64_t pyramid_stages = 0;  // the last ones
  std::int64_t more_levels = 0;     // above them, by convolutions of stride 2
  std::int64_t pyramid = 0;         // channels of the pyramid and the heads
  std::int64_t head_layers = 0;     // before each head's result
  std::int64_t norm_groups = 0;
  double anchor_size = 4.0;  // in strides
  std::vector<double> scales = {}, ratios = {};
  DetectionLossShape loss = {};

  std::int64_t pixels() const { return side * side; }
  AnchorShape anchors() const;
};

/// tiny, small, standard, retinanet (the shape of MLPerf's benchmark).
std::vector<std::string> detect_presets();
/// Throws Error(input) for another name, listing these.
DetectShape detect_preset(std::string_view name);

struct Detect {
  std::unique_ptr<Graph> graph;
  Var images;  // [samples pixels, channels]
  DetectionTargets targets;
  Var predictions;  // [samples anchors, classes + 4]
  Var losses;       // one per image
};

/// Throws Error(internal) for sizes that do not divide each other.
Detect make_detect(const DetectShape& shape, std::int64_t samples, Dtype dtype = Dtype::f32,
                   bool recompute = false);

/// Forward and backward: three times the GEMMs of a forward pass.
double detect_flops_per_sample(const DetectShape& shape);

}  // namespace bench::training
