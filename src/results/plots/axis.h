// Axis of a plot: its range, the position of a value, and the tick values.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct Axis {
  bool log = false;
  double low = 0.0, high = 1.0;  // values at its ends
  double from = 0.0, to = 1.0;   // where its ends lie, in the drawing's unit
  /// Whether a value can be shown: finite, and positive on a logarithmic axis.
  bool shows(double value) const;
  /// Values beyond an end are clamped to it.
  double at(double value) const;
  std::vector<double> ticks() const;
};

/// Covers all drawable values with a margin; starts at 0 if the smallest is below half of the
/// largest. Without values [0, 1], or [1, 10] if logarithmic.
Axis make_axis(const std::vector<double>& values, bool log, double from, double to);

/// A number with at most three digits and a prefix: "1.2T", "250", "30m", "1e-15".
std::string tick_label(double value);

}  // namespace bench
