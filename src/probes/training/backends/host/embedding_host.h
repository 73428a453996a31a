// Rows of a table by id, on one thread.
#pragma once

#include "probes/training/backends/host/norm_host.h"
#include "probes/training/kernels/checked_id.h"
#include "probes/training/kernels/embedding.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Embedding final : public EmbeddingKernels {
 public:
  void forward(View ids, View table, View y) override {
    const Index n = table.columns;
    for (Index i = 0; i < y.rows; ++i) {
      const Index id = checked_id(ids, i, table.rows);
      std::memcpy(y.as<T>() + i * n, table.as<T>() + id * n,
                  static_cast<std::size_t>(n) * sizeof(T));
    }
  }
  void backward(View ids, View y_gradient, View table_gradient, bool add) override {
    zero_unless<T>(add, table_gradient);
    for (Index i = 0; i < y_gradient.rows; ++i)
      add_row(y_gradient, i, table_gradient, checked_id(ids, i, table_gradient.rows));
  }
  void add_positions(View x, View table, std::int64_t sequence, View y) override {
    const Index n = x.columns;
    for (Index i = 0; i < x.rows; ++i) {
      const T *in = x.as<T>() + i * n, *row = table.as<T>() + (i % sequence) * n;
      T* out = y.as<T>() + i * n;
      for (Index j = 0; j < n; ++j) out[j] = in[j] + row[j];
    }
  }
  void positions_backward(View y_gradient, std::int64_t sequence, View table_gradient,
                          bool add) override {
    zero_unless<T>(add, table_gradient);
    for (Index i = 0; i < y_gradient.rows; ++i)
      add_row(y_gradient, i, table_gradient, i % sequence);
  }

 private:
  static void add_row(View from, Index i, View to, Index row) {
    const T* in = from.as<T>() + i * from.columns;
    T* __restrict out = to.as<T>() + row * from.columns;
    for (Index j = 0; j < from.columns; ++j) out[j] += in[j];
  }
};

}  // namespace bench::training::BENCH_ISA
