#include "training/detection/anchors.h"

#include <cmath>

#include "training/kernels/detection_kernels.h"

namespace bench::training {
namespace {

const double kLargestGrowth = std::log(1000.0 / 16.0);  // of a side

double share_inside(const Box& anchor, const Box& region) {
  return intersection(anchor, region) / anchor.area();
}

}  // namespace

std::vector<Box> make_anchors(const AnchorShape& shape) {
  std::vector<Box> anchors;
  for (const AnchorLevel& level : shape.levels)
    for (std::int64_t pixel = 0; pixel < level.height * level.width; ++pixel)
      for (const double scale : shape.scales)
        for (const double ratio : shape.ratios) {
          const std::int64_t row = pixel / level.width, column = pixel % level.width;
          const double x = static_cast<double>(column) * level.stride + 0.5;
          const double y = static_cast<double>(row) * level.stride + 0.5;
          const double height = level.size * scale * std::sqrt(ratio);
          const double width = level.size * scale / std::sqrt(ratio);
          anchors.push_back({x - width / 2, y - height / 2, x + width / 2, y + height / 2});
        }
  return anchors;
}

MatchedAnchors match_anchors(std::span<const Box> anchors, std::span<const Truth> truths,
                             const MatchThresholds& thresholds) {
  MatchedAnchors matched;
  matched.classes.assign(anchors.size(), kBackground);
  matched.boxes.assign(anchors.size(), {});
  std::vector<const Truth*> owner(anchors.size(), nullptr);
  std::vector<double> best(anchors.size(), 0.0), best_of(truths.size(), 0.0);
  for (std::size_t i = 0; i < anchors.size(); ++i)
    for (std::size_t k = 0; k < truths.size(); ++k) {
      const Truth& truth = truths[k];
      const double common = overlap(anchors[i], truth.box);
      if (truth.ignored) {
        if (common >= thresholds.positive || share_inside(anchors[i], truth.box) >= 0.5)
          matched.classes[i] = kIgnored;
        continue;
      }
      best_of[k] = std::max(best_of[k], common);
      if (common <= best[i]) continue;
      best[i] = common;
      owner[i] = &truth;
    }
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    if (!owner[i]) continue;
    const auto k = static_cast<std::size_t>(owner[i] - truths.data());
    if (best[i] >= thresholds.positive || best[i] == best_of[k]) {
      matched.classes[i] = owner[i]->label;
      matched.boxes[i] = encode_box(anchors[i], owner[i]->box);
      ++matched.positives;
    } else if (best[i] >= thresholds.negative) {
      matched.classes[i] = kIgnored;
    }
  }
  return matched;
}

std::array<double, 4> encode_box(const Box& anchor, const Box& box) {
  const double width = anchor.width(), height = anchor.height();
  return {(box.left + box.right - anchor.left - anchor.right) / (2.0 * width),
          (box.top + box.bottom - anchor.top - anchor.bottom) / (2.0 * height),
          std::log(box.width() / width), std::log(box.height() / height)};
}

Box decode_box(const Box& anchor, const std::array<double, 4>& numbers) {
  const double width = anchor.width(), height = anchor.height();
  const double x = (anchor.left + anchor.right) / 2.0 + numbers[0] * width;
  const double y = (anchor.top + anchor.bottom) / 2.0 + numbers[1] * height;
  const double half_width = width / 2.0 * std::exp(std::min(numbers[2], kLargestGrowth));
  const double half_height = height / 2.0 * std::exp(std::min(numbers[3], kLargestGrowth));
  return {x - half_width, y - half_height, x + half_width, y + half_height};
}

}  // namespace bench::training
