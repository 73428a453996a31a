// The boxes from which a one-stage detector starts: some at each pixel of each level, what they
// should say of an image's objects, and the boxes that its answers mean. As in RetinaNet (arXiv
// 1708.02002).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "training/detection/box.h"

namespace bench::training {

/// The anchors of one level; each pixel has one of every scale and ratio, centred on the image's
/// pixel on which its convolutions (of odd kernels and stride 2) are centred.
struct AnchorLevel {
  std::int64_t height = 0, width = 0;  // pixels of the level
  double stride = 0.0;                 // pixels of the image from one to the next
  double size = 0.0;                   // side of an anchor of scale and ratio 1
};

struct AnchorShape {
  std::vector<AnchorLevel> levels = {};
  std::vector<double> scales = {1.0};
  std::vector<double> ratios = {1.0};  // height / width

  std::int64_t of_pixel() const { return std::ssize(scales) * std::ssize(ratios); }
};

/// Level by level, row by row, pixel by pixel; the ratios of each scale.
std::vector<Box> make_anchors(const AnchorShape& shape);

/// What one image's anchors should say, in the form of AnchorTargets (kernels/detection_kernels.h).
struct MatchedAnchors {
  std::vector<std::int32_t> classes = {};         // kBackground and kIgnored too
  std::vector<std::array<double, 4>> boxes = {};  // encoded; zeros unless positive
  std::int64_t positives = 0;
};

struct MatchThresholds {
  double positive = 0.5, negative = 0.4;  // of the overlap with the best object
};

/// An anchor belongs to the object that it overlaps most: positive from `positive` on, ignored from
/// `negative` on, else background. Of the anchors that belong to an object, the one that overlaps
/// it most of all anchors is positive in any case. Background that overlaps an ignored region as
/// much as a positive would, or has half of its area there, is ignored.
MatchedAnchors match_anchors(std::span<const Box> anchors, std::span<const Truth> truths,
                             const MatchThresholds& thresholds = {});

/// The distance of the centres in units of the anchor, then the logarithms of the ratios of sides.
std::array<double, 4> encode_box(const Box& anchor, const Box& box);
/// The inverse; sides grow at most by a factor of 62.5, as in RetinaNet.
Box decode_box(const Box& anchor, const std::array<double, 4>& numbers);

}  // namespace bench::training
