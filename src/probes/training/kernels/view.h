// What a kernel gets of a tensor: where it lies and how it is shaped, never the graph.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace bench::training {

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
