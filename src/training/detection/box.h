// Boxes around objects, and what detectors and labels say of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bench::training {

/// In pixels; x grows to the right, y downwards.
struct Box {
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
  double area() const { return width() * height(); }
  bool operator==(const Box&) const = default;
};

inline double intersection(const Box& a, const Box& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width <= 0.0 || height <= 0.0 ? 0.0 : width * height;
}

/// Intersection over union; 0 for two empty boxes.
inline double overlap(const Box& a, const Box& b) {
  const double both = intersection(a, b);
  return both > 0.0 ? both / (a.area() + b.area() - both) : 0.0;
}

/// A labelled object, or a region in which detections do not count.
struct Truth {
  Box box = {};
  int label = 0;         // the class
  bool ignored = false;  // COCO's iscrowd
};

struct Detection {
  Box box = {};
  int label = 0;
  double score = 0.0;
};

}  // namespace bench::training
