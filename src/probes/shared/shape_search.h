// Chooses the next GEMM shape in a search for the fastest one. Times and measurements are passed
// in. The search begins with cubes and with shapes that fill all multiprocessors in whole waves of
// tiles, from small to large, continues with the neighbours of the best, and finally times the best
// few again: the fastest of many brief timings was partly lucky.
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
  std::optional<Seconds> seconds;  // of one product; nothing if it is not supported
  bool again = false;              // a second timing of one of the best
  double rate() const { return seconds ? shape.operations() / seconds->value : 0.0; }
};

class ShapeSearch {
 public:
  ShapeSearch(const ShapeBounds& bounds, Seconds budget);

  /// The shape to time now, `elapsed` after the search began; nothing at the end.
  std::optional<GemmShape> next(Seconds elapsed);
  /// The time of the last next()'s shape.
  void record(std::optional<Seconds> seconds);

  /// The fastest by its second timing, or by the first if there was no time for a second; nothing
  /// if no shape was timed.
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
  std::vector<GemmShape> offered_;   // all shapes that ever waited
  std::vector<GemmShape> expanded_;  // whose neighbours were offered
  std::vector<GemmShape> finalists_;
  bool finals_ = false;
  std::optional<GemmShape> asked_;
  std::vector<ShapeTrial> trials_;
};

/// The most square shape with `waves` times as many tiles as there are multiprocessors.
GemmShape whole_waves(int multiprocessors, int waves, std::int64_t tile_rows,
                      std::int64_t tile_columns, std::int64_t k);

}  // namespace bench
