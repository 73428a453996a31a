#include "training/sources/outline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "training/sources/gaussian.h"

namespace bench::training {

Outline::Outline(const StarShape& star, double across, double down, double turn) {
  const auto [turn_sine, turn_cosine] = plain_sine_cosine(turn);
  for (int i = 0; i < 2 * star.tips; ++i) {
    const auto [sine, cosine] = plain_sine_cosine(2.0 * i / star.tips);
    const double radius = i % 2 == 0 ? 1.0 : star.inner;
    const double x = radius * cosine * across, y = radius * sine * down;
    corners_.push_back({x * turn_cosine - y * turn_sine, x * turn_sine + y * turn_cosine});
  }
}

void Outline::move(double x, double y) {
  for (Point& corner : corners_) {
    corner.x += x;
    corner.y += y;
  }
}

Box Outline::box() const {
  const auto [left, right] = std::ranges::minmax(corners_, {}, &Point::x);
  const auto [top, bottom] = std::ranges::minmax(corners_, {}, &Point::y);
  return {left.x, top.y, right.x, bottom.y};
}

double Outline::distance(double x, double y) const {
  double nearest = std::numeric_limits<double>::infinity();
  bool inside = false;
  Point b = corners_.back();
  for (const Point& a : corners_) {
    const double side_x = b.x - a.x, side_y = b.y - a.y, off_x = x - a.x, off_y = y - a.y;
    const double along = std::clamp(
        (off_x * side_x + off_y * side_y) / (side_x * side_x + side_y * side_y), 0.0, 1.0);
    const double from_x = off_x - along * side_x, from_y = off_y - along * side_y;
    nearest = std::min(nearest, from_x * from_x + from_y * from_y);
    // A ray to the right crosses this side.
    if ((a.y > y) != (b.y > y) && x < a.x + (y - a.y) / side_y * side_x) inside = !inside;
    b = a;
  }
  return inside ? -std::sqrt(nearest) : std::sqrt(nearest);
}

}  // namespace bench::training
