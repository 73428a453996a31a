// Runs kernel bodies in loops on the CPU, to test them without a GPU.
// training/cuda/functor_set_of.h describes each call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "training/kernels/functors/portable.h"
#include "training/kernels/functors/row_elements.h"

namespace bench::training {

// A block of GPU threads on the CPU. A body is written in phases: each() runs a piece on every
// thread of the block (here one after another, on a GPU each its own), what a thread keeps from
// phase to phase is Per, and sums over threads come between phases. So one text serves both, and
// what threads must not share without sync() shows on the CPU as well.

template <int threads>
class HostBlock {
 public:
  static constexpr int kThreads = threads;

  /// A variable that each thread has for itself.
  template <class T>
  struct Per {
    T values[threads] = {};
    T& operator()(int thread) { return values[thread]; }
  };

  template <class Phase>
  void each(const Phase& phase) {
    for (int thread = 0; thread < threads; ++thread) phase(thread);
  }
  /// Makes writes to shared memory visible to all threads.
  void sync() {}
  template <class Number>
  Number sum(Per<Number>& x) {
    Number all = 0;
    for (const Number value : x.values) all += value;
    return all;
  }
  float max(Per<float>& x) {
    float most = x.values[0];
    for (const float value : x.values) most = value > most ? value : most;
    return most;
  }
};

class HostLaunch {
 public:
  static constexpr int kThreads = 32;       // of a row
  static constexpr int kUnitThreads = 128;  // as on a GPU, for tile bodies

  /// body.at<width>(i) for packs of a flat tensor; single elements if `count` is not a multiple.
  template <int width, class Body>
  void elements(const Body& body, std::int64_t count) {
    if (count % width != 0) return elements<1>(body, count);
    for (std::int64_t i = 0; i < count; i += width) body.template at<width>(i);
  }
  /// body.at<width>(row, column)
  template <int width, class Body>
  void rows(const Body& body, std::int64_t count) {
    if (body.columns() % width != 0) return rows<1>(body, count);
    for (std::int64_t row = 0; row < count; ++row)
      for (std::int64_t column = 0; column < body.columns(); column += width)
        body.template at<width>(row, column);
  }
  /// body.row<width>(block, row): a block of threads for a row of n columns.
  template <int width, class Body>
  void blocks(const Body& body, std::int64_t count, std::int64_t n) {
    if (n % width != 0) return blocks<1>(body, count, n);
    HostBlock<kThreads> block;
    for (std::int64_t row = 0; row < count; ++row) body.template row<width>(block, row);
  }
  /// body.unit(block, x, y, shared): a block of threads with shared memory for each of x and y.
  template <class Body>
  void units(const Body& body, std::int64_t xs, std::int64_t ys, std::int64_t shared_bytes) {
    HostBlock<kUnitThreads> block;
    std::vector<float> shared(static_cast<std::size_t>(shared_bytes) / sizeof(float));
    for (std::int64_t x = 0; x < xs; ++x)
      for (std::int64_t y = 0; y < ys; ++y) body.unit(block, x, y, shared.data());
  }
  /// body.slab(index, column)
  template <class Body>
  void slabs(const Body& body, std::int64_t count, std::int64_t n) {
    for (std::int64_t slab = 0; slab < count; ++slab)
      for (std::int64_t column = 0; column < n; ++column) body.slab(slab, column);
  }

  void zero(void* data, std::int64_t bytes) {
    std::fill_n(static_cast<std::byte*>(data), bytes, std::byte{});
  }
  /// Memory until the next call of scratch().
  void* scratch(std::int64_t bytes) {
    scratch_.resize(static_cast<std::size_t>(bytes) / sizeof(double) + 1);
    return scratch_.data();
  }
  /// Ids less `first` in ascending order and where each stood; equal ones in their order. Those
  /// that a table of `table_rows` lacks become table_rows.
  std::pair<const std::int32_t*, const std::int32_t*> sorted(const std::int32_t* ids,
                                                             std::int64_t count, std::int64_t first,
                                                             std::int64_t table_rows) {
    const auto known = [&](std::int32_t at) {
      const std::int64_t row = ids[at] - first;
      return static_cast<std::int32_t>(row < 0 || row >= table_rows ? table_rows : row);
    };
    positions_.resize(static_cast<std::size_t>(count));
    std::iota(positions_.begin(), positions_.end(), 0);
    std::stable_sort(positions_.begin(), positions_.end(),
                     [&](std::int32_t a, std::int32_t b) { return known(a) < known(b); });
    sorted_.clear();
    for (const std::int32_t at : positions_) sorted_.push_back(known(at));
    return {sorted_.data(), positions_.data()};
  }
  IdFault* fault() { return &fault_; }
  double* result() { return &result_; }
  double read_result() { return result_; }

 private:
  std::vector<double> scratch_ = {};
  std::vector<std::int32_t> sorted_ = {}, positions_ = {};
  IdFault fault_{~0ull, 0};
  double result_ = 0.0;
};

}  // namespace bench::training
