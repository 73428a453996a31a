// A kernel's view of a tensor: address, shape and type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/dtype.h"

namespace bench::training {

/// The type of sums, statistics and optimizer state for tensors of `dtype`.
constexpr Dtype accumulator_of(Dtype dtype) {
  return dtype == Dtype::bf16 || dtype == Dtype::f16 ? Dtype::f32 : dtype;
}

/// Whether it is a 16-bit type, computed in f32 with f32 master weights.
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

inline std::span<std::byte> bytes_of(View x) {
  return {x.as<std::byte>(), static_cast<std::size_t>(x.elements()) * size_of(x.dtype)};
}

/// `count` rows of x from `first` on.
inline View rows_of(View x, std::int64_t first, std::int64_t count) {
  const std::int64_t bytes = first * x.columns * static_cast<std::int64_t>(size_of(x.dtype));
  return {x.as<std::byte>() + bytes, count, x.columns, x.dtype};
}

}  // namespace bench::training
