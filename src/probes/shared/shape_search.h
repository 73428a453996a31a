// Which product shape to try next in search of the fastest. Pure: what was measured and how late it
// is come from outside. It begins with cubes and with shapes that fill all multiprocessors in whole
// waves of tiles, from small to large, goes on with the neighbours of the best, and times the best
// few once more at the end: of many that were timed briefly the fastest is lucky too.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"
#include "devices/gemm.h"

namespace bench {

struct ShapeBounds {
  double most_bytes = 0.0;       // of A, B and C together
  double element_bytes = 4.0;    // of A and B
  double output_bytes = 4.0;     // of an element of C
  std::int64_t largest = 65536;  // of m, n and k
  int multiprocessors = 0;       // 0: unknown, no whole waves
  double most_calls = 6.0;       // how many products one trial of a large shape does
};

struct ShapeTrial {
  GemmShape shape;
  std::optional<Seconds> seconds;  // of one product; nothing where it cannot be had
  bool again = false;              // one of the best, timed once more
  double rate() const { return seconds ? shape.operations() / seconds->value : 0.0; }
};

class ShapeSearch {
 public:
  ShapeSearch(const ShapeBounds& bounds, Seconds budget);

  /// The shape to time now, `elapsed` after the search began; nothing when it is over.
  std::optional<GemmShape> next(Seconds elapsed);
  /// What the shape of the last next() took.
  void record(std::optional<Seconds> seconds);

  /// The fastest by its second timing, or by its first where there was no time for one; nothing
  /// where no shape could be had.
  std::optional<GemmShape> winner() const;
  /// In the order in which they were timed.
  const std::vector<ShapeTrial>& trials() const { return trials_; }

 private:
  bool worth_trying(const GemmShape& shape) const;
  std::optional<GemmShape> unexplored();
  void add_neighbours(const GemmShape& shape);
  void offer(const GemmShape& shape);
  /// The fastest first, each shape once, by its first timing.
  std::vector<ShapeTrial> ranking() const;
  double best_rate() const;

  const ShapeBounds bounds_;
  const Seconds budget_;
  std::vector<GemmShape> waiting_;   // in order
  std::vector<GemmShape> offered_;   // whatever was ever waiting
  std::vector<GemmShape> expanded_;  // whose neighbours were offered
  std::vector<GemmShape> finalists_;
  bool finals_ = false;
  std::optional<GemmShape> asked_;
  std::vector<ShapeTrial> trials_;
};

/// Shapes of `waves` times as many tiles as there are multiprocessors, as square as these numbers
/// allow.
GemmShape whole_waves(int multiprocessors, int waves, std::int64_t tile_rows,
                      std::int64_t tile_columns, std::int64_t k);

}  // namespace bench
