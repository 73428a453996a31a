// One axis of a drawing: what it spans, where a value lies on it, and which values are marked.
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
  /// For a value that it shows; what lies beyond an end is put on it.
  double at(double value) const;
  std::vector<double> ticks() const;
};

/// Spans all values that can be shown, with a margin; down to 0 where the least is below half of
/// the largest. [0, 1], or [1, 10] if logarithmic, where there is none.
Axis make_axis(const std::vector<double>& values, bool log, double from, double to);

/// A number with at most three digits and a prefix: "1.2T", "250", "30m", "1e-15".
std::string tick_label(double value);

}  // namespace bench
