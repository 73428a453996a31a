// The outlines of drawn objects: stars and regular polygons, turned and stretched.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "training/detection/box.h"

namespace bench::training {

struct Point {
  double x = 0.0, y = 0.0;
};

/// A star of `tips` tips, whose inner corners lie at `inner` of their distance from the centre; a
/// regular polygon where these lie on its sides.
struct StarShape {
  int tips = 3;
  double inner = 0.5;
};

/// Shapes that differ in their outline.
inline constexpr std::array<StarShape, 11> kOutlines{{{8, 1.0},
                                                      {3, 0.5},
                                                      {4, 0.4},
                                                      {4, 0.70710678},
                                                      {5, 0.45},
                                                      {6, 0.86602540},
                                                      {6, 0.5},
                                                      {3, 0.25},
                                                      {5, 0.80901699},
                                                      {8, 0.55},
                                                      {2, 0.5}}};

/// A closed polygon.
class Outline {
 public:
  /// Around the origin; `turn` in quarters of a turn, [0, 4); `across` and `down` are the radii
  /// before it is turned.
  Outline(const StarShape& star, double across, double down, double turn);

  void move(double x, double y);
  /// The smallest box around it.
  Box box() const;
  /// The distance from the outline, negative inside.
  double distance(double x, double y) const;

 private:
  std::vector<Point> corners_ = {};
};

}  // namespace bench::training
