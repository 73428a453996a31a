// What a kernel gets of a tensor: where it lies and how it is shaped, never the graph.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace bench::training {

/// The type of sums, statistics and optimizer state beside tensors of `dtype`.
constexpr Dtype accumulator_of(Dtype dtype) {
  return dtype == Dtype::bf16 || dtype == Dtype::f16 ? Dtype::f32 : dtype;
}

/// Whether tensors of it are held in 16 bits and computed in f32, beside f32 master weights.
constexpr bool is_narrow(Dtype dtype) { return accumulator_of(dtype) != dtype; }

/// Row-major, rows of `columns` elements without gaps. All leading dimensions of a tensor are rows.
struct View {
  void* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Dtype dtype = Dtype::f32;

  std::int64_t elements() const { return rows * columns; }
  explicit operator bool() const { return data != nullptr; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

}  // namespace bench::training
