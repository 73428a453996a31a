// One series on its axis, judged by itself: its levels, and its newest value against the last
// level.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "results/stats/l1_segmentation.h"
#include "results/stats/prediction.h"

namespace bench {

// A history as levels: where it changed by more than the practical threshold for at least three
// values.

/// The least change that counts, as distances on the series' axis, both positive.
struct Thresholds {
  double up = 0.0;
  double down = 0.0;
  bool passes(double distance) const { return distance > up || distance < -down; }
};

/// Least number of values of a level.
inline constexpr std::size_t kShortestLevel = 3;

struct Segments {
  std::vector<std::size_t> begins = {0};  // ascending, the first is 0
  std::vector<double> levels = {};        // medians

  std::size_t end(std::size_t i, std::size_t n) const {
    return i + 1 < begins.size() ? begins[i + 1] : n;
  }
};

/// L1 segments at the penalty 1.6 f^2 sigma ln n; then those too short or too like their neighbour
/// are joined to it, the least change first.
Segments segments_of(L1Segmentation& steps, std::span<const double> values, double sigma,
                     double inflation, const Thresholds& thresholds);

/// Rise over the whole series of a straight-line fit, if it costs less than the steps, which then
/// all have one direction; otherwise 0.
double rise_of_line(std::span<const double> values, const Segments& segments, double penalty);

/// Minimum number of values at the level before the newest, and number of values considered.
inline constexpr std::size_t kFewestNights = 8;
inline constexpr std::size_t kMostNights = 60;

struct LevelHistory {
  std::vector<double> values = {};  // on the axis
  double sigma = 0.0;               // of a value; not below the floor
  double floor = 0.0;               // least standard deviation assumed
  double correlation = 0.0;         // of neighbours, by this series alone
  double inflation = 1.0;           // f^2, by all series of its kind
  double phi = 0.0;                 // correlation about its levels, shrunk to that of its kind
  Segments segments = {};

  /// The values that the newest one is held against: those of the last segment before it. Fewer
  /// than kFewestNights: it is not judged.
  std::span<const double> nights() const;
};

/// A change of level.
struct Change {
  std::size_t at = 0, low = 0, high = 0;  // first value after the change, and the range it lies in
  std::size_t until = 0;                  // first value back at the old level; 0: persists
  double shift = 0.0, shift_low = 0.0, shift_high = 0.0;  // on the axis, 95 %
  double p = 1.0;                                         // for a change anywhere in the series
  std::size_t before = 0, after = 0;                      // values on both sides
  int votes = 1, voters = 1;
};

/// Noise prior from all series of a kind.
struct NoisePrior {
  VariancePrior variance = {};
  double floor = 0.0;  // least standard deviation
  TailMoments below = {}, above = {};
  bool pooled = false;  // tails are those of all, not of the series itself
};

/// Adds a step among the last fourteen values that is too young for the penalty of a whole series,
/// if generalised least squares with the correlation of its kind show it. `prior`: of the other
/// series of the kind.
void add_recent_step(LevelHistory& history, const Thresholds& thresholds, const NoisePrior& prior);

/// Estimates noise; `floor`: the smallest standard deviation assumed.
LevelHistory measured(std::vector<double> values, double floor);

/// Persistent changes, and those that ended within the last fourteen values. A return to an earlier
/// level ends the earlier change and is not a change itself.
std::vector<Change> changes_of(const LevelHistory& history, const Thresholds& thresholds,
                               const NoisePrior& prior);

/// A slow drift over the whole series, if a line fits better than steps.
std::optional<Change> drift_of(const LevelHistory& history, const Thresholds& thresholds);

/// A value against nights at one level, with the tails that the noise has on its side.
PredictionTest predicted(std::span<const double> nights, double value, const NoisePrior& prior);

/// The newest value, with a p for its direction; nothing if too few values precede it. Its interval
/// is expensive and computed only if p is at most `most_p`.
std::optional<Change> newest_of(const LevelHistory& history, const NoisePrior& prior,
                                double most_p);

}  // namespace bench
