// Axis on which values are judged: the logarithm, so that noise and effects are relative, or the
// value itself in units of the series' level.
#pragma once

#include <span>
#include <vector>

namespace bench {

class Scale {
 public:
  /// Logarithmic: all values must be positive. Otherwise the unit is the absolute median, or one if
  /// that is zero.
  Scale(bool is_log, std::span<const double> values);

  double of(double value) const;     // value -> axis
  double value(double place) const;  // ... and back
  /// A distance on the axis as a share of the level: -0.032.
  double share(double distance) const;
  /// A practical threshold, a share, as distances up and down (both positive).
  double up(double threshold) const;
  double down(double threshold) const;

 private:
  bool log_;
  double unit_ = 1.0;
};

}  // namespace bench
